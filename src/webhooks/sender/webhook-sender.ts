import type { Sentence } from '../../../contracts/facts/fact.ts'

/** Sends one attempt of a delivery: a signed POST to a customer's endpoint (standardwebhooks.com). */
export interface WebhookSender {
  /** Never rejects: every failure is a result. */
  attempt(request: AttemptRequest): Promise<AttemptResult>
  /** Posts JSON without a signature, for example to a chat. The same address rules apply. Never rejects. */
  post(request: PostRequest): Promise<AttemptResult>
  /** Checks whether deliveries to this URL would be allowed, before an endpoint is added. */
  check(url: string): Promise<AddressCheck>
  /** Aborts running attempts. */
  close(): Promise<void>
}

/** Private and non-existent hosts get the same verdict, because different ones would reveal names in our network. */
export type AddressCheck = 'allowed' | 'refused'

export interface AttemptRequest {
  url: string
  /** Custom headers of the endpoint. Reserved ones are ignored. */
  headers: Readonly<Record<string, string>>
  eventId: string
  /** The request body, which is signed byte for byte. */
  payload: string
  /** Each secret adds a signature. After a rotation, there are two for a while. */
  secrets: readonly string[]
  timestamp: Date
  /** Undefined for a test of an endpoint. */
  delivery?: AttemptedDelivery
}

/** The attributes of a delivery in traces. */
interface AttemptedDelivery {
  id: string
  accountId: string
  endpointId: string
  /** Number of earlier attempts. */
  attempts: number
  /** Trace context of the operation that caused the event. */
  traceparent: string | null
}

interface PostRequest {
  url: string
  body: string
  timestamp: Date
}

export interface AttemptResult {
  /** `gone`: the endpoint returned 410 and accepts no more events. */
  outcome: 'delivered' | 'failed' | 'gone'
  /** Absent if there was no response. */
  statusCode?: number
  /** Why the attempt failed: a fact, or such as `HTTP 500`. */
  error?: Sentence
  /** The delay that the endpoint requested. */
  retryAfterSeconds?: number
  /** The first bytes of the response, safe for a database and a terminal. */
  responseStart?: string
  durationMilliseconds: number
}
