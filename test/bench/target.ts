import type { NumberedMessages } from './numbered-messages.ts'

/** What the load generator sends to a server. */
export type Target = RepeatedRequest | Callbacks

/** One request again and again, other digits in it each time. */
export interface RepeatedRequest {
  url: string
  path: string
  headers: Record<string, string>
  body: string
}

/** Signed callbacks of WhatsApp's, each status of them news. */
export interface Callbacks {
  url: string
  appSecret: string
  phoneNumberId: string
  messages: NumberedMessages
  statusesPerCallback: number
  /** How many callbacks were sent before. */
  sent: number
}
