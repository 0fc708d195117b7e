import type { Plan } from './reporter.ts'
import type { GraphTemplate, TemplateList } from './templates.ts'

/** A business phone number that the simulator knows. */
export interface SimulatedNumber {
  phoneNumberId: string
  wabaId: string
  accessToken: string
  displayPhoneNumber: string
  verifiedName: string
  /** WhatsApp puts it in front of a `to` without plus sign. */
  callingCode: string
  /** Only CONNECTED can send (reference, section 5). */
  status: string
  qualityRating: string
}

/** A message that was accepted: whatever reports its fate starts here. */
export interface AcceptedMessage {
  waMessageId: string
  /** Digits of the recipient. */
  waId: string
  from: SimulatedNumber
  template: GraphTemplate
  /** `biz_opaque_callback_data` of the request. */
  callbackData?: string
  messageStatus: 'accepted' | 'held_for_quality_assessment'
  /** What becomes of it. */
  plan: Plan
}

/** A request as it came in. */
export interface ReceivedRequest {
  method: string
  /** Path without version and query: `/<id>/messages`. */
  path: string
  version?: string
  query: URLSearchParams
  headers: Record<string, string | string[] | undefined>
  /** Parsed where it is JSON, otherwise the text. */
  body: unknown
}

export interface SimulatorState {
  numbers: Map<string, SimulatedNumber>
  /** By WABA id. */
  templates: Map<string, TemplateList>
  /** WABAs to which an app has subscribed. */
  subscribed: Set<string>
  randomBytes: (size: number) => Uint8Array
  onAccepted: (message: AcceptedMessage) => void
}
