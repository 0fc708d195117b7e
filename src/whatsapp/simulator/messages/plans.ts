import type { AccountReport } from '../account-reports.ts'
import type { failures } from '../errors.ts'

/** A status that follows this many milliseconds after a message was accepted. */
export interface PlannedStatus {
  status: 'sent' | 'delivered' | 'read' | 'failed'
  afterMs: number
  /** Meta's error code of a failure. */
  code?: keyof typeof failures
  /** Replaces the usual details of the code. */
  details?: string
}

const sent: PlannedStatus = { status: 'sent', afterMs: 150 }
const delivered: PlannedStatus = { status: 'delivered', afterMs: 600 }
const read: PlannedStatus = { status: 'read', afterMs: 1_500 }

/** WhatsApp returns 200 and reports later that a file cannot be used (reference 2, section 1.1). */
function mediaFailure(details: string): [PlannedStatus, PlannedStatus] {
  return [sent, { status: 'failed', afterMs: 600, code: 131053, details }]
}

/** The statuses that follow an accepted message. */
export const plans = {
  usual: [sent, delivered, read],
  neverRead: [sent, delivered],
  /** No `delivered` status is sent if a message is read immediately (reference, section 4.3). */
  readAtOnce: [sent, { ...read, afterMs: 400 }],
  undeliverable: [sent, { status: 'failed', afterMs: 600, code: 131026 }],
  withheld: [{ status: 'failed', afterMs: 600, code: 131049 }],
  /** Not documented; 131048 is the likeliest code (autumn reference, section 3.2). */
  beyondLimit: [{ status: 'failed', afterMs: 600, code: 131048 }],
  droppedAfterHold: [{ status: 'failed', afterMs: 1_500, code: 132015 }],
  backwards: [
    { ...read, afterMs: 150 },
    { ...delivered, afterMs: 600 },
    { ...sent, afterMs: 1_000 },
  ],
  repeated: [sent, sent, sent, delivered, delivered, delivered, read, read, read],
  /** With several devices, a message can fail on one and be delivered to another. */
  failedThenDelivered: [sent, { status: 'failed', afterMs: 400, code: 131026 }, { ...delivered, afterMs: 900 }],
  silent: [],
  mediaForbidden: mediaFailure('Downloading media from weblink failed with http code 403, status message Forbidden'),
  mediaMissing: mediaFailure('Downloading media from weblink failed with http code 404, status message Not Found'),
  mediaWrongType: mediaFailure(
    'Image file uploaded with mimetype as image/jpeg, however on processing it is of type text/html. Please choose a different file.',
  ),
} as const satisfies Record<string, readonly PlannedStatus[]>

export type Plan = keyof typeof plans

export interface PlannedAction {
  /** Milliseconds after the message was accepted. */
  afterMs: number
  action:
    | { kind: 'tap'; button: 'first' | 'last' }
    | { kind: 'flow' }
    /** Shares the number that a button asks for. */
    | { kind: 'share'; number: string }
    | { kind: 'text'; body: string; isReply?: boolean }
    | { kind: 'preference'; value: 'stop' | 'resume' }
    /** Gets a new user ID, and with `number` also another number. */
    | { kind: 'change'; number?: string }
    /** Opens the link of a message of the Marketing Messages API. */
    | { kind: 'click' }
    /** WhatsApp sends chats of the WhatsApp Business app. */
    | { kind: 'history' }
    /** WhatsApp reports an error that belongs to no message. */
    | { kind: 'error'; code: keyof typeof failures }
    /** WhatsApp reports something about the business. */
    | { kind: 'report'; report: AccountReport }
  /** How often WhatsApp sends the callback; once by default. */
  times?: number
}
