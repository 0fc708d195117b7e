import { type ReceivedEvent, WebhookVerificationError } from './event.ts'
import { createVerifier, type WebhookHeaders } from './verify.ts'

type EventType = ReceivedEvent['type']

/** One event type's events, with the id that all their attempts share. */
export type EventOf<Type extends EventType> = Extract<ReceivedEvent, { type: Type }>

export interface WebhookHandlerOptions {
  /** The endpoint's secret, or several while it is rotated. */
  secret: string | readonly string[]
  /** What to do with each event. Types that are left out are acknowledged and ignored. */
  on: { [Type in EventType]?: (event: EventOf<Type>) => unknown }
}

/** What to answer with. */
export interface WebhookAnswer {
  status: 204 | 400
  /** Why it was refused, for whoever reads the log of attempts; empty otherwise. */
  body: string
}

export type WebhookHandler = (rawBody: string | Uint8Array, headers: WebhookHeaders) => Promise<WebhookAnswer>

/**
 * Verifies a request, gives its event to the handler of its type, and says what to answer. What a
 * handler throws is passed on, for the framework to answer with 500: Waybill then tries again later.
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

/** The same for frameworks whose handlers take a `Request` and return a `Response`. */
export function createFetchWebhookHandler(options: WebhookHandlerOptions): (request: Request) => Promise<Response> {
  const handle = createWebhookHandler(options)
  return async (request) => {
    const { status, body } = await handle(new Uint8Array(await request.arrayBuffer()), request.headers)
    return new Response(body === '' ? null : body, { status })
  }
}

async function dispatch(on: WebhookHandlerOptions['on'], event: ReceivedEvent): Promise<void> {
  // The handler under an event's type takes that event: the type system cannot follow this lookup.
  const handler = on[event.type] as ((event: ReceivedEvent) => unknown) | undefined
  await handler?.(event)
}
