import { unknownField } from '../errors.ts'
import { ok, pickFields, type ReceivedRequest, type SimulatedResponse } from '../exchange.ts'
import type { SimulatedNumber, SimulatorState } from '../state.ts'
import type { TokenAccess } from './tokens.ts'

const defaultFields = [
  'verified_name',
  'code_verification_status',
  'display_phone_number',
  'quality_rating',
  'platform_type',
  'throughput',
]

/** `GET /<phone number id>`: reference, section 5. */
export function getPhoneNumber(
  state: SimulatorState,
  access: TokenAccess,
  number: SimulatedNumber,
  request: ReceivedRequest,
): SimulatedResponse {
  return refuseLimit(request) ?? ok(toNode(state, access, number, request.query))
}

/** `GET /<WABA id>/phone_numbers`. */
export function listPhoneNumbers(
  state: SimulatorState,
  access: TokenAccess,
  wabaId: string,
  request: ReceivedRequest,
): SimulatedResponse {
  const numbers = [...state.numbers.values()].filter((number) => number.wabaId === wabaId)
  return refuseLimit(request) ?? ok({ data: numbers.map((number) => toNode(state, access, number, request.query)) })
}

const limitField = 'whatsapp_business_manager_messaging_limit'

/** Reference 2, section 5.2. */
function refuseLimit({ version = '', query }: ReceivedRequest): SimulatedResponse | undefined {
  const isOlder = ['v21.0', 'v22.0', 'v23.0'].includes(version)
  return isOlder && query.get('fields')?.includes(limitField) ? unknownField(limitField) : undefined
}

function toNode(
  state: SimulatorState,
  { token }: TokenAccess,
  number: SimulatedNumber,
  query: URLSearchParams,
): object {
  const node = {
    verified_name: number.verifiedName,
    code_verification_status: number.codeVerificationStatus,
    display_phone_number: number.displayPhoneNumber,
    quality_rating: number.qualityRating,
    platform_type: 'CLOUD_API',
    is_on_biz_app: number.onBusinessApp === true,
    throughput: { level: number.throughputLevel },
    status: number.status,
    name_status: number.nameStatus,
    is_pin_enabled: number.pin !== undefined,
    [limitField]: number.messagingLimit,
    health_status: toHealth(number),
    webhook_configuration: {
      whatsapp_business_account: state.subscriptions.get(number.wabaId)?.get(token.appId)?.overrideCallbackUrl,
      application: state.apps.get(token.appId)?.subscription?.callbackUrl,
    },
    id: number.phoneNumberId,
  }
  return pickFields(node, query, defaultFields)
}

/** `health_status`: reference 2, section 5.5. The overall value is the worst of the entities. */
function toHealth({ phoneNumberId, wabaId, blockedBy, status }: SimulatedNumber): object {
  const unregistered =
    status === 'CONNECTED'
      ? undefined
      : {
          error_code: 141000,
          error_description: `The phone number is not connected: its status is ${status}.`,
          possible_solution: 'Register the phone number with the Cloud API.',
        }
  const error = blockedBy ?? unregistered
  const canSend = error ? 'BLOCKED' : 'AVAILABLE'
  const others = { can_send_message: 'AVAILABLE' }
  return {
    can_send_message: canSend,
    entities: [
      { entity_type: 'PHONE_NUMBER', id: phoneNumberId, can_send_message: canSend, ...(error && { errors: [error] }) },
      { entity_type: 'WABA', id: wabaId, ...others },
      { entity_type: 'BUSINESS', id: businessIdOf(wabaId), ...others },
      { entity_type: 'APP', id: '0', ...others },
    ],
  }
}

/** Each simulated WABA belongs to a business portfolio of its own. */
export function businessIdOf(wabaId: string): string {
  return `9${wabaId.slice(1)}`
}
