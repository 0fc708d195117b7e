import { createAgent, requestThrough } from '../../platform/undici.ts'
import { signCallback } from '../callbacks/signature.ts'

/** Where an app receives callbacks, and the secret that signs them. */
export interface CallbackEndpoint {
  url: string
  appSecret: string
}

const agent = createAgent()

/** Posts a signed callback, and returns whether it was accepted. */
export async function postCallback({ url, appSecret }: CallbackEndpoint, callback: object): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(callback))
  try {
    const { origin, pathname, search } = new URL(url)
    const response = await requestThrough(agent, {
      origin,
      path: pathname + search,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signCallback(body, appSecret) },
      body,
    })
    await response.body.dump()
    return response.statusCode === 200
  } catch {
    return false
  }
}
