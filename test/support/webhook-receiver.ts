import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from './listen.ts'

export interface ReceivedWebhook {
  /** The `webhook-id` header. */
  id: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** By `performance.now()`. */
  at: number
}

/** How a receiver responds; a request without a response stays open. */
export type Behaviour = (received: ReceivedWebhook, response: ServerResponse, request: IncomingMessage) => void

export interface WebhookReceiver {
  url: string
  received: ReceivedWebhook[]
  /** The webhooks received at one path, which identifies the endpoint. */
  at(path: string): ReceivedWebhook[]
  /** Sets the behaviour for later requests, optionally of one path only. */
  behave(behaviour: Behaviour, path?: string): void
  close(): Promise<void>
}

export const accept: Behaviour = (_received, response) => void response.end('ok')

export function respond(statusCode: number, headers: Record<string, string> = {}): Behaviour {
  return (_received, response) => void response.writeHead(statusCode, headers).end(`answer ${statusCode}`)
}

/** Holds the request open until the sender times out. */
export const neverRespond: Behaviour = () => {}

/** An HTTP server of a customer. */
export async function startWebhookReceiver({ port = 0 } = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  const behaviours = new Map<string, Behaviour>()
  let otherwise = accept
  // Closing idle connections would fail an attempt that uses one at the same time.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const webhook = {
        id: String(request.headers['webhook-id']),
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      }
      received.push(webhook)
      const behave = behaviours.get(webhook.path) ?? otherwise
      behave(webhook, response, request)
    })
    response.on('error', () => {})
  })
  const { url, close } = await listen(server, port)
  return {
    url,
    received,
    at: (path) => received.filter((webhook) => webhook.path === path),
    behave: (behaviour, path) => {
      if (path === undefined) otherwise = behaviour
      else behaviours.set(path, behaviour)
    },
    close,
  }
}
