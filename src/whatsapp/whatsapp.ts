import type { ErrorCode } from '../../contracts/errors.ts'
import type { StoredComponent } from '../platform/db/schema.ts'

/** The number to send from. */
export interface Sender {
  phoneNumberId: string
  accessToken: string
}

export interface OutgoingTemplate {
  /** Digits only; the client writes the leading `+` that Meta urges (reference, section 1). */
  to: string
  name: string
  language: string
  /** Body parameters, in the order of the placeholders; `name` only for named placeholders. */
  parameters: { name?: string; text: string }[]
  /** Our message id; comes back in every status as `biz_opaque_callback_data`. */
  callbackData: string
  /** Runs right before the first byte of a try is written. If it throws, nothing is written. */
  beforeWrite?: () => void
}

/** WhatsApp's own words about a failure. */
export interface WhatsAppError {
  code: number
  title: string
  details?: string
}

export type SendOutcome =
  /** Accepted for processing. */
  | { kind: 'accepted'; waMessageId: string }
  /** WhatsApp answered with an error: nothing was sent. `answer` is what the caller gets. */
  | {
      kind: 'refused'
      answer: SendRefusal
      error: WhatsAppError
      retryAfterSeconds?: number
      /** The WhatsApp account cannot send until its owner acts. */
      accountUnusable: boolean
      /** What we believe of the template is out of date: its new status, or `resync` to go and see. */
      template?: 'PAUSED' | 'DISABLED' | 'resync'
    }
  /** WhatsApp certainly did not take the request, such as a connection that could not be opened. */
  | { kind: 'unavailable'; reason: string; retryAfterSeconds?: number }
  /** The request was written and no answer can be read: the message may have been sent. */
  | { kind: 'unknown'; reason: string }

export type SendRefusal = Extract<
  ErrorCode,
  'MESSAGE_REJECTED' | 'TEMPLATE_NOT_FOUND' | 'NO_ACTIVE_ACCOUNT' | 'WHATSAPP_THROTTLED' | 'WHATSAPP_UNAVAILABLE'
>

/** A template as the Graph API lists it. */
export interface ListedTemplate {
  id: string
  name: string
  language: string
  status: string
  category?: string
  parameterFormat: string
  components: StoredComponent[]
  qualityScore?: string
  rejectedReason?: string
}

/** A phone number as the Graph API describes it. */
export interface PhoneNumberInfo {
  displayPhoneNumber?: string
  verifiedName?: string
  status?: string
  qualityRating?: string
  throughput?: string
}

/** Whatever a read from the Graph API can end in. */
export type ReadOutcome<T> =
  | { ok: true; value: T }
  | {
      ok: false
      refused: boolean
      accountUnusable: boolean
      reason: string
      error?: WhatsAppError
      /** WhatsApp refused for a passing reason, such as a throttle: the same read may succeed later. */
      transient?: true
    }

/** The part of the WhatsApp Cloud API (Meta Graph API) that the service uses. */
export interface WhatsApp {
  sendTemplate(sender: Sender, message: OutgoingTemplate): Promise<SendOutcome>
  /** All pages. */
  listTemplates(waba: { wabaId: string; accessToken: string }): Promise<ReadOutcome<ListedTemplate[]>>
  getPhoneNumber(sender: Sender): Promise<ReadOutcome<PhoneNumberInfo>>
  /** Whether a WhatsApp Business Account lists this phone number. */
  hasPhoneNumber(waba: { wabaId: string } & Sender): Promise<ReadOutcome<boolean>>
  close(): Promise<void>
}
