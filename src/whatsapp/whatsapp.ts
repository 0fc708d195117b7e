import type { Readable } from 'node:stream'
import type { ErrorCode } from '../../contracts/errors.ts'
import type { WhatsAppIdentity } from './callbacks/read-identity.ts'
import type { Onboarding, PhoneNumberInfo } from './onboarding.ts'
import type { ReadOutcome, WhatsAppError } from './read-outcome.ts'
import type { ListedTemplate, TemplateManagement } from './template-management.ts'

export interface Sender {
  phoneNumberId: string
  accessToken: string
  /** Names the account that pays, if the token reaches several on the number (autumn reference, section 3.3). */
  messagingAccountId?: string | undefined
}

/**
 * Where a message is posted: `marketing_messages` takes only marketing templates, of accounts that are onboarded to the
 * Marketing Messages API (autumn reference, section 1.1).
 */
export type Endpoint = 'messages' | 'marketing_messages'

/** The endpoint of a send, and the one to use instead if WhatsApp's answer says that it is the wrong one. */
export type Route = readonly [Endpoint, Endpoint?]

/** `name` is set only for named placeholders. */
export interface TextParameter {
  name?: string | undefined
  text: string
}

/** A file by its public URL, or by its media ID at WhatsApp. */
export type MediaReference = { link: string } | { id: string }

export type OutgoingHeader =
  | ({ kind: 'text' } & TextParameter)
  | { kind: 'image' | 'video'; media: MediaReference }
  | { kind: 'document'; media: MediaReference; filename?: string | undefined }
  | { kind: 'location'; latitude: number; longitude: number; name?: string | undefined; address?: string | undefined }
  | { kind: 'product'; catalogId: string; productId: string }

export type OutgoingButton = { index: number } & (
  | { kind: 'url'; text: string }
  | { kind: 'quickReply'; payload: string }
  | { kind: 'copyCode'; couponCode: string }
  | { kind: 'flow'; token?: string | undefined; data?: object | undefined }
  | { kind: 'catalog'; thumbnailProductId?: string | undefined }
  | { kind: 'products'; thumbnailProductId: string; sections: { title: string; productIds: string[] }[] }
)

export interface OutgoingCard {
  parameters: TextParameter[]
  header?: OutgoingHeader
  buttons?: OutgoingButton[]
}

export interface OutgoingTemplate {
  /** A number, digits only: the client adds the leading `+` that Meta recommends (reference, section 1). Or a user ID. */
  to: string
  name: string
  language: string
  /** Body parameters in the order of the placeholders. */
  parameters: TextParameter[]
  header?: OutgoingHeader
  /** Only the buttons that WhatsApp needs a component of. */
  buttons?: OutgoingButton[]
  /** All cards of a carousel, in order. */
  cards?: OutgoingCard[]
  limitedTimeOffer?: { expiresAt: Date }
  /** Components in WhatsApp's own format, which replace the content above. */
  components?: object[]
  /** Values that must not appear in errors, such as a one-time code. */
  secrets?: readonly string[]
  /** `['messages']` if absent. */
  route?: Route
  /** Our message ID, which every status returns as `biz_opaque_callback_data`. */
  callbackData: string
  /** Runs right before the first byte of each attempt is written. If it throws, nothing is written. */
  beforeWrite?: () => void
}

export type SendOutcome = {
  /** The code with which WhatsApp rejected the first endpoint of the route; the outcome is that of the second one. */
  reroutedAfter?: number
} &
  /** Accepted for processing. `recipient` is how WhatsApp names the recipient. */
  (
    | { kind: 'accepted'; waMessageId: string; recipient?: WhatsAppIdentity | undefined }
    /** WhatsApp returned an error and sent nothing. `errorCode` is the error for the caller. */
    | {
        kind: 'refused'
        errorCode: SendErrorCode
        error: WhatsAppError
        retryAfterSeconds?: number
        /** True if the WhatsApp account cannot send until a user fixes it. */
        accountUnusable: boolean
        /** The stored template is outdated: its new status, or `resync` to read it again. */
        template?: 'PAUSED' | 'DISABLED' | 'resync'
        /** The onboarding of the WhatsApp account may have changed. */
        checkAccount?: true
      }
    /** WhatsApp certainly did not receive the request, for example because no connection could be opened. */
    | { kind: 'unavailable'; reason: string; retryAfterSeconds?: number }
    /** The request was written, but no valid response was received: the message may have been sent. */
    | { kind: 'unknown'; reason: string }
  )

/** A file on its way to WhatsApp. */
export interface MediaUpload {
  /** Media type, such as `image/png`. */
  type: string
  size: number
  filename: string
  /** The bytes, of which there are `size`. */
  body: Readable
}

/** An upload can be repeated, so one without a response counts as not done. */
export type MediaOutcome =
  | { kind: 'uploaded'; waMediaId: string }
  | Omit<Extract<SendOutcome, { kind: 'refused' }>, 'template' | 'checkAccount'>
  | { kind: 'unavailable'; reason: string }

export type SendErrorCode = Extract<
  ErrorCode,
  'MESSAGE_REJECTED' | 'TEMPLATE_NOT_FOUND' | 'NO_ACTIVE_ACCOUNT' | 'WHATSAPP_THROTTLED' | 'WHATSAPP_UNAVAILABLE'
>

/** The part of the WhatsApp Cloud API (Meta Graph API) that Waybill uses. */
export interface WhatsApp extends Onboarding, TemplateManagement {
  sendTemplate(sender: Sender, message: OutgoingTemplate): Promise<SendOutcome>
  uploadMedia(sender: Sender, file: MediaUpload): Promise<MediaOutcome>
  /** Returns whether the file no longer exists at WhatsApp. */
  deleteMedia(sender: Sender, waMediaId: string): Promise<boolean>
  /** Deletes a user from the contact book of the sender's business portfolio. Returns whether there was an entry. */
  deleteContact(sender: Sender, userId: string): Promise<ReadOutcome<boolean>>
  /** Reads all pages. */
  listTemplates(waba: { wabaId: string; accessToken: string }): Promise<ReadOutcome<ListedTemplate[]>>
  getPhoneNumber(sender: Sender): Promise<ReadOutcome<PhoneNumberInfo>>
  /** Returns whether a WhatsApp Business Account contains this phone number. */
  hasPhoneNumber(waba: { wabaId: string } & Sender): Promise<ReadOutcome<boolean>>
  close(): Promise<void>
}
