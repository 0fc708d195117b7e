import type { Plan } from './reporter.ts'
import type { GraphTemplate, TemplateList } from './templates.ts'

/** A simulated business phone number. */
export interface SimulatedNumber {
  phoneNumberId: string
  wabaId: string
  accessToken: string
  displayPhoneNumber: string
  verifiedName: string
  /** Prepended to a `to` without a plus sign. */
  callingCode: string
  /** Only CONNECTED numbers can send (reference, section 5). */
  status: string
  qualityRating: string
}

/** An accepted message, from which its statuses are created. */
export interface AcceptedMessage {
  waMessageId: string
  /** The recipient's digits. */
  waId: string
  from: SimulatedNumber
  template: GraphTemplate
  /** `biz_opaque_callback_data` of the request. */
  callbackData?: string
  messageStatus: 'accepted' | 'held_for_quality_assessment'
  /** The statuses that follow. */
  plan: Plan
}

/** A received request. */
export interface ReceivedRequest {
  method: string
  /** Path without version and query: `/<id>/messages`. */
  path: string
  version?: string
  query: URLSearchParams
  headers: Record<string, string | string[] | undefined>
  /** Parsed if it is JSON, otherwise the text. */
  body: unknown
}

export interface SimulatorState {
  numbers: Map<string, SimulatedNumber>
  /** Templates by WABA ID. */
  templates: Map<string, TemplateList>
  /** WABAs with a subscribed app. */
  subscribed: Set<string>
  randomBytes: (size: number) => Uint8Array
  onAccepted: (message: AcceptedMessage) => void
}
