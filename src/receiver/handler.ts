import { type ReceivedEvent, WebhookVerificationError } from './event.ts'
import { createVerifier, type WebhookHeaders } from './verify.ts'

type EventType = ReceivedEvent['type']

/** The events of one type, with the ID that all attempts share. */
export type EventOf<Type extends EventType> = Extract<ReceivedEvent, { type: Type }>

export interface WebhookHandlerOptions {
  /** The endpoint's secret, or several during a rotation. */
  secret: string | readonly string[]
  /** Handlers by event type. Events without a handler are acknowledged and ignored. */
  on: { [Type in EventType]?: (event: EventOf<Type>) => unknown }
}

/** The response to send. */
export interface WebhookAnswer {
  status: 204 | 400
  /** Why the request was rejected, for the list of attempts; empty otherwise. */
  body: string
}

export type WebhookHandler = (rawBody: string | Uint8Array, headers: WebhookHeaders) => Promise<WebhookAnswer>

/**
 * Verifies a request, calls the handler of its event type and returns the response. Errors of a handler are rethrown,
 * so that the framework responds with 500 and Waybill retries later.
 */
export function createWebhookHandler({ secret, on }: WebhookHandlerOptions): WebhookHandler {
  const verify = createVerifier(secret)
  return async (rawBody, headers) => {
    let event: ReceivedEvent
    try {
      event = verify(rawBody, headers)
    } catch (error) {
      if (error instanceof WebhookVerificationError) return { status: 400, body: error.message }
      throw error
    }
    await dispatch(on, event)
    return { status: 204, body: '' }
  }
}

// `dom` and `@types/node` both declare these types. The fallbacks are for projects with neither.
type RequestOfPlatform = typeof globalThis extends { Request: { prototype: infer T } }
  ? T
  : { readonly headers: WebhookHeaders; arrayBuffer(): Promise<ArrayBuffer> }
type ResponseOfPlatform = typeof globalThis extends { Response: { prototype: infer T } }
  ? T
  : { readonly status: number; text(): Promise<string> }

/** Like `createWebhookHandler`, for frameworks whose handlers take a `Request` and return a `Response`. */
export function createFetchWebhookHandler(
  options: WebhookHandlerOptions,
): (request: RequestOfPlatform) => Promise<ResponseOfPlatform> {
  const handle = createWebhookHandler(options)
  return async (request) => {
    const { status, body } = await handle(new Uint8Array(await request.arrayBuffer()), request.headers)
    return new Response(body === '' ? null : body, { status })
  }
}

async function dispatch(on: WebhookHandlerOptions['on'], event: ReceivedEvent): Promise<void> {
  // The handler of an event's type accepts that event, but TypeScript cannot infer this from the lookup.
  const handler = on[event.type] as ((event: ReceivedEvent) => unknown) | undefined
  await handler?.(event)
}
