import { createHmac, createSecretKey } from 'node:crypto'
import { Agent, request } from 'undici'

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
