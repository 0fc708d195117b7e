import { z } from 'zod'
import { ofAccount, dashboardProcedure } from '../procedure.ts'

const Count = z.int()

/**
 * Messages by the furthest state that they reached. Each stage includes the next: `attempted` is `accepted` plus
 * `refused`, and `accepted` is `delivered` plus `undelivered` plus the messages that are not delivered yet. Pending
 * messages have no outcome and are not counted.
 */
export const Funnel = z.object({
  attempted: Count,
  /** Accepted by WhatsApp, whatever came after. */
  accepted: Count,
  /** Reached the recipient, read or not. */
  delivered: Count,
  read: Count,
  /** Failed without being accepted by WhatsApp. */
  refused: Count,
  /** Accepted by WhatsApp, failed later, and did not reach the recipient on any device. */
  undelivered: Count,
})
export type Funnel = z.infer<typeof Funnel>

/** Messages recorded on one day. */
export const DayCounts = Funnel.extend({
  /** In UTC, such as `2026-11-20`. */
  date: z.string(),
})

export const FailureCount = Funnel.pick({ refused: true, undelivered: true }).extend({
  /** WhatsApp's code, or one of ours; empty when there was none. */
  code: z.string(),
  /** In plain words. */
  meaning: z.string(),
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
  /** The sum of the days. */
  totals: Funnel,
  /** The most frequent first; at most ten. Less frequent ones are only in the totals. */
  failures: z.array(FailureCount),
  /** From `sent` to `delivered`, of the delivered messages for which WhatsApp reported both. */
  timeToDelivered: z.array(DurationCount),
})
export type Overview = z.infer<typeof Overview>

/** From counts that are kept beside the messages; it reads none of them. */
export const getOverview = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'What was sent, delivered, read and failed, by day',
  input: ofAccount({ days: z.union([z.literal(7), z.literal(30), z.literal(90)]).default(30) }),
  output: Overview,
})
