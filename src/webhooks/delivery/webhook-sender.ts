/** Makes one attempt at a delivery: a signed POST to a customer's endpoint (standardwebhooks.com). */
export interface WebhookSender {
  /** Never rejects: whatever goes wrong out there is a result. */
  attempt(request: AttemptRequest): Promise<AttemptResult>
  /** Whether it would send there, as far as that can be told when an endpoint is made. */
  check(url: string): Promise<AddressVerdict>
  /** Breaks off what is under way. */
  close(): Promise<void>
}

/** One verdict for a host that is not public and for one that does not exist: two would tell about our network. */
export type AddressVerdict = 'allowed' | 'refused'

export interface AttemptRequest {
  url: string
  /** The endpoint's own headers; ours win. */
  headers: Readonly<Record<string, string>>
  eventId: string
  /** The body, byte for byte as it is signed. */
  payload: string
  /** Each signs: after a rotation there are two for a while. */
  secrets: readonly string[]
  timestamp: Date
}

export interface AttemptResult {
  /** `gone`: the endpoint wants no more (410). */
  outcome: 'delivered' | 'failed' | 'gone'
  /** Absent when no answer came. */
  statusCode?: number
  /** Why it failed: one of a few stable texts of ours. */
  error?: string
  /** How long the endpoint asks us to wait. */
  retryAfterSeconds?: number
  /** The first bytes of the answer, fit for a database and a terminal. */
  responseStart?: string
  durationMilliseconds: number
}
