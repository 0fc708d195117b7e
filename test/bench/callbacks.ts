import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { Agent, request } from 'undici'
import { numbered } from './numbered-ids.ts'
import { type Callbacks, writeRequest } from './run-load.ts'

/** The statuses of a message, in this order; each changes the message once. */
const names = ['delivered', 'read'] as const

/** Reports all messages as delivered, then all as read. Throws when no status is left. */
export function writeCallbacks(target: Callbacks): () => Buffer {
  const { url, phoneNumberId, messages, statusesPerCallback } = target
  const key = createSecretKey(Buffer.from(target.appSecret))
  let next = target.sent * statusesPerCallback
  return () => {
    const statuses = Array.from({ length: statusesPerCallback }, () => toStatus(target, next++))
    if (next > messages.count * names.length) throw new Error('all messages are read: store more')
    return writeRequest({ url, path: '/webhooks/whatsapp', ...signCallback(statuses, { phoneNumberId, key }) })
  }
}

/** A callback as Meta sends it. */
export function signCallback(
  statuses: readonly object[],
  { phoneNumberId, key }: { phoneNumberId: string; key: KeyObject },
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '102290129340398',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '34600111222', phone_number_id: phoneNumberId },
              statuses,
            },
          },
        ],
      },
    ],
  })
  const signature = createHmac('sha256', key).update(body).digest('hex')
  return { headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }, body }
}

/** With the fields that Meta includes (reference, section 4.3). */
function toStatus({ messages }: Callbacks, position: number): object {
  const number = position % messages.count
  return {
    id: numbered(messages.waMessageIdStart, number),
    status: names[Math.floor(position / messages.count)],
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: String(34_600_000_000 + number),
    biz_opaque_callback_data: numbered(messages.idStart, number),
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
  }
}

export interface Webhook {
  url: string
  id: string
  payload: string
}

/** The signed POST of Standard Webhooks in a straightforward implementation; throws unless the response is a 2xx. */
export function createSignedPost(secret: string): (webhook: Webhook) => Promise<void> {
  const dispatcher = new Agent({ connections: 256, headersTimeout: 15_000, bodyTimeout: 15_000 })
  const key = createSecretKey(Buffer.from(secret, 'base64'))
  return async ({ url, id, payload }) => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')
    const { statusCode, body } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body: payload,
    })
    await body.dump()
    if (statusCode < 200 || statusCode > 299) throw new Error(`HTTP ${statusCode}`)
  }
}

/** 24 bytes, like the secrets of Waybill's endpoints. */
export const secret = createHmac('sha256', 'bench').digest().subarray(0, 24).toString('base64')
