/** The fields of callbacks that Waybill reads (reference, section 4): statuses, replies, templates, numbers, accounts and opt-outs. */
export const requiredCallbackFields = [
  'messages',
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
  'phone_number_quality_update',
  'phone_number_name_update',
  'business_capability_update',
  'account_update',
  'account_alerts',
  'account_review_update',
  'user_preferences',
] as const

/** Reports only whether another app answers conversations (autumn reference, section 5.4), so an app works without it. */
export const optionalCallbackField = 'standby'

/** All fields to subscribe to. */
export const callbackFields = [...requiredCallbackFields, optionalCallbackField] as const

/** Path of the callback URL. An app with its own secret adds the ID of its WhatsApp account. */
export const callbackPath = '/webhooks/whatsapp'

export function callbackPathOf(whatsAppAccountId: string): string {
  return `${callbackPath}/${whatsAppAccountId}`
}
