import type { NumberedMessages } from './numbered-ids.ts'

/** The requests that the load generator sends to a server. */
export type Target = RepeatedRequest | Callbacks

/** One repeated request with different digits each time. */
export interface RepeatedRequest {
  url: string
  path: string
  headers: Record<string, string>
  body: string
}

/** Signed WhatsApp callbacks in which every status is new. */
export interface Callbacks {
  url: string
  appSecret: string
  phoneNumberId: string
  messages: NumberedMessages
  statusesPerCallback: number
  /** How many callbacks were already sent. */
  sent: number
}
