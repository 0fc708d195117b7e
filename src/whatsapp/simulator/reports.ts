import { failures } from './errors.ts'

/** A status that a message will have, so many milliseconds after it was accepted. */
export interface PlannedReport {
  status: 'sent' | 'delivered' | 'read' | 'failed'
  afterMs: number
  /** Why it failed: a code of Meta's. */
  code?: keyof typeof failures
}

const sent: PlannedReport = { status: 'sent', afterMs: 150 }
const delivered: PlannedReport = { status: 'delivered', afterMs: 600 }
const read: PlannedReport = { status: 'read', afterMs: 1_500 }

/** What becomes of a message, by how its recipient behaves. */
export const plans = {
  usual: [sent, delivered, read],
  neverRead: [sent, delivered],
  /** `delivered` is not told when a message is read at once (reference, section 4.3). */
  readAtOnce: [sent, { ...read, afterMs: 400 }],
  undeliverable: [sent, { status: 'failed', afterMs: 600, code: 131026 }],
  withheld: [{ status: 'failed', afterMs: 600, code: 131049 }],
  droppedAfterHold: [{ status: 'failed', afterMs: 1_500, code: 132015 }],
  backwards: [
    { ...read, afterMs: 150 },
    { ...delivered, afterMs: 600 },
    { ...sent, afterMs: 1_000 },
  ],
  repeated: [sent, sent, sent, delivered, delivered, delivered, read, read, read],
  /** With several devices one can fail and another receive. */
  failedThenDelivered: [sent, { status: 'failed', afterMs: 400, code: 131026 }, { ...delivered, afterMs: 900 }],
  silent: [],
} as const satisfies Record<string, readonly PlannedReport[]>

export type Plan = keyof typeof plans
