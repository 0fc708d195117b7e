import { z } from 'zod'
import { ofAccount, settingsProcedure } from '../procedure.ts'

const Count = z.int()

/**
 * Messages recorded on one day. Each counts once in every state that it has reached: one that was read was
 * delivered and sent too.
 */
export const DayCounts = z.object({
  /** In UTC, such as `2026-11-20`. */
  date: z.string(),
  /** Taken by WhatsApp, whatever came after. */
  sent: Count,
  /** Reached the recipient, read or not. */
  delivered: Count,
  read: Count,
  /** Refused at once, or sent and failed later. One that reached the recipient in the end is none of them. */
  failed: Count,
  /** Of those that failed: how many WhatsApp had accepted, and so are counted as sent too. */
  failedLater: Count,
})

export const FailureCount = z.object({
  /** WhatsApp's code, or one of ours; empty when there was none. */
  code: z.string(),
  /** In plain words. */
  meaning: z.string(),
  count: Count,
})

/** One bar: messages that took less than `untilSeconds`, and no less than where the bar before ends. */
export const DurationCount = z.object({
  /** Absent of the last one, which has no end. */
  untilSeconds: z.number().optional(),
  count: Count,
})

export const Overview = z.object({
  /** The oldest first; days without a message are there too. */
  days: z.array(DayCounts),
  /** The most frequent first; at most ten. */
  failures: z.array(FailureCount),
  /** From `sent` to `delivered`. */
  timeToDelivered: z.array(DurationCount),
})
export type Overview = z.infer<typeof Overview>

/** From counts that are kept beside the messages; it reads none of them. */
export const getOverview = settingsProcedure({
  kind: 'query',
  admits: 'viewer',
  summary: 'What was sent, delivered, read and failed, by day',
  input: ofAccount({ days: z.union([z.literal(7), z.literal(30), z.literal(90)]).default(30) }),
  output: Overview,
})
