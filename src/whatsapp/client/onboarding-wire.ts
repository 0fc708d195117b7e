import { z } from 'zod'
import { lenient, WireId as Id, WireNumber } from '../wire-values.ts'
import { PhoneNumber } from './wire.ts'

/** Meta's payloads of the onboarding requests, in Meta's terms (reference 2, section 5). */

const Text = z.string()

export const DebuggedToken = z.object({
  data: z.object({
    is_valid: z.boolean(),
    app_id: lenient(Id),
    application: lenient(Text),
    /** Unix seconds; 0 if the token never expires. */
    expires_at: lenient(WireNumber),
    scopes: lenient(z.array(Text)),
    granular_scopes: lenient(z.array(z.object({ scope: Text, target_ids: lenient(z.array(Id)) }))),
    error: lenient(z.object({ message: lenient(Text) })),
  }),
})

export const IssuedToken = z.object({ access_token: z.string().min(1) })

export const BusinessAccountNode = z.object({ id: Id, name: lenient(Text) })

export const MarketingNode = z.object({
  marketing_messages_onboarding_status: lenient(Text),
  disable_marketing_messages_on_cloud_api: lenient(z.boolean()),
  primary_funding_id: lenient(Id),
})

const HealthStatus = z.object({
  entities: z.array(
    z.object({
      entity_type: Text,
      id: lenient(Id),
      can_send_message: Text.catch('UNKNOWN'),
      errors: lenient(
        z.array(
          z.object({
            error_code: lenient(WireNumber),
            error_description: Text.catch('WhatsApp gave no reason.'),
            possible_solution: lenient(Text),
          }),
        ),
      ),
      additional_info: lenient(z.array(Text)),
    }),
  ),
})
export type HealthStatus = z.infer<typeof HealthStatus>

export const NumberNode = PhoneNumber.extend({
  id: Id,
  name_status: lenient(Text),
  code_verification_status: lenient(Text),
  whatsapp_business_manager_messaging_limit: lenient(Text),
  health_status: lenient(HealthStatus),
  /** The callback URLs of each level that has one. */
  webhook_configuration: lenient(z.object({ phone_number: lenient(Text), whatsapp_business_account: lenient(Text) })),
})

export const AppUseNode = z.object({ id: Id, is_on_biz_app: lenient(z.boolean()), platform_type: lenient(Text) })

export const SubscribedAppNode = z.object({
  whatsapp_business_api_data: z.object({ id: Id }),
  override_callback_uri: lenient(Text),
})

export const AppSubscriptionNode = z.object({
  object: lenient(Text),
  callback_url: lenient(Text),
  active: lenient(z.boolean()),
  fields: lenient(z.array(z.union([Text, z.object({ name: Text })]))),
})

/** Some edges return `{"success": true}`, others only HTTP 200. */
export const Success = z.looseObject({ success: z.literal(true).optional() })
