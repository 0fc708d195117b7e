/** Sends one attempt of a delivery: a signed POST to a customer's endpoint (standardwebhooks.com). */
export interface WebhookSender {
  /** Never rejects: every failure is a result. */
  attempt(request: AttemptRequest): Promise<AttemptResult>
  /** Posts JSON without a signature, such as to a chat, with the same rules for addresses. Never rejects. */
  post(request: PostRequest): Promise<AttemptResult>
  /** Checks when an endpoint is added whether deliveries to this URL would be allowed. */
  check(url: string): Promise<AddressVerdict>
  /** Aborts running attempts. */
  close(): Promise<void>
}

/**
 * A private host and a non-existent host get the same verdict, because two verdicts would reveal names of our network.
 */
export type AddressVerdict = 'allowed' | 'refused'

export interface AttemptRequest {
  url: string
  /** The endpoint's own headers; reserved headers override them. */
  headers: Readonly<Record<string, string>>
  eventId: string
  /** The body, byte for byte as it is signed. */
  payload: string
  /** Each secret adds a signature: after a rotation there are two for a while. */
  secrets: readonly string[]
  timestamp: Date
  /** Undefined for a test of an endpoint. */
  delivery?: AttemptedDelivery
}

/** What traces show of a delivery. */
interface AttemptedDelivery {
  id: string
  account_id: string
  endpoint_id: string
  /** Number of earlier attempts. */
  attempts: number
  /** The trace context of what caused the event. */
  traceparent: string | null
}

interface PostRequest {
  url: string
  body: string
  timestamp: Date
}

export interface AttemptResult {
  /** `gone`: the endpoint answered 410 and accepts no more events. */
  outcome: 'delivered' | 'failed' | 'gone'
  /** Absent if there was no response. */
  statusCode?: number
  /** Why the attempt failed: one of a fixed set of texts. */
  error?: string
  /** The delay that the endpoint requested. */
  retryAfterSeconds?: number
  /** The first bytes of the response, safe for a database and a terminal. */
  responseStart?: string
  durationMilliseconds: number
}
