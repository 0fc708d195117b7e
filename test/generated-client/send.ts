import createClient from 'openapi-fetch'
import type { components, paths } from './generated/waybill.ts'

export type Outcome = { sent: true; messageId: string; status: string } | { sent: false; advice: string }

/** Notifies a customer that the parcel was shipped, like an application that has only openapi.json. */
export async function notifyShipped(
  options: { url: string; apiKey: string },
  parcel: { recipient: string; name: string; order: string; template?: string },
): Promise<Outcome> {
  const client = createClient<paths>({ baseUrl: options.url, headers: { 'X-API-Key': options.apiKey } })
  const { data, error, response } = await client.POST('/api/v1/message/send', {
    params: { header: { 'Idempotency-Key': `${parcel.order}-left` } },
    body: {
      to: parcel.recipient,
      template: parcel.template ?? 'order_shipped',
      language: 'en',
      variables: { '1': parcel.name, '2': parcel.order },
      externalId: parcel.order,
    },
  })
  if (data) return { sent: true, messageId: data.data.messageId, status: data.data.status }
  const { code, message } = error.error
  switch (code) {
    case 'VALIDATION_ERROR':
    case 'MESSAGE_REJECTED':
    case 'IDEMPOTENCY_KEY_REUSED':
    case 'PAYLOAD_TOO_LARGE':
    case 'UNSUPPORTED_MEDIA_TYPE':
      return { sent: false, advice: `correct the message: ${message}` }
    case 'TEMPLATE_NOT_FOUND':
      return { sent: false, advice: `have the template approved: ${message}` }
    case 'INVALID_API_KEY':
    case 'API_DISABLED':
    case 'IP_NOT_ALLOWED':
    case 'NO_ACTIVE_ACCOUNT':
      return { sent: false, advice: `ask the account owner: ${message}` }
    case 'IDEMPOTENCY_KEY_IN_USE':
    case 'RATE_LIMIT_EXCEEDED':
    case 'WHATSAPP_THROTTLED':
    case 'WHATSAPP_UNAVAILABLE':
    case 'SERVICE_UNAVAILABLE':
      return { sent: false, advice: `try again in ${response.headers.get('Retry-After')} seconds` }
    case 'SEND_OUTCOME_UNKNOWN':
    case 'INTERNAL_ERROR':
      return { sent: false, advice: 'try again with the same key' }
    // A code that a later version added: its status says enough.
    default:
      return {
        sent: false,
        advice: response.status < 500 ? `correct the message: ${message}` : 'try again with the same key',
      }
  }
}

/** Sends a template with the values of its own example, of any kind. */
export async function sendExample(
  options: { url: string; apiKey: string },
  template: components['schemas']['Template'],
  to: string,
): Promise<string> {
  const client = createClient<paths>({ baseUrl: options.url, headers: { 'X-API-Key': options.apiKey } })
  if (!template.example) throw new Error('The template cannot be sent.')
  // A request as `message.send` takes it, which the document describes as an object of any kind.
  const example = template.example as components['schemas']['SendMessageRequest']
  const { data, error } = await client.POST('/api/v1/message/send', { body: { ...example, to } })
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`)
  return data.data.status
}
