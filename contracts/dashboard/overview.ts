import { z } from 'zod'
import { dayMilliseconds } from '../time.ts'
import { Day, Timestamp } from '../fields.ts'
import { accountInput, ownerChange, viewerQuery } from '../procedure.ts'
import { TimeZone } from './alert.ts'
import { Facts } from './facts.ts'
import { changes } from '../facts/changes.ts'

const Count = z.int()

/**
 * Counts messages by stage. Each stage includes the next: `attempted` is `accepted` plus `refused`, and `accepted` is
 * `delivered` plus `undelivered` plus the messages that are not delivered yet. Pending messages have no outcome and are
 * not counted here; `outcomeUnknown` counts those that are pending for longer than a send takes.
 */
export const Funnel = z.object({
  attempted: Count,
  /** Accepted by WhatsApp, whatever happened later. */
  accepted: Count,
  /** Reached the recipient, read or not. */
  delivered: Count,
  read: Count,
  /** Failed without being accepted by WhatsApp. */
  refused: Count,
  /** Accepted by WhatsApp, but failed later on every device of the recipient. */
  undelivered: Count,
})
export type Funnel = z.infer<typeof Funnel>

/** Messages recorded on one day, or in one hour. */
export const DayCounts = Funnel.extend({
  /** In the account's time zone, such as `2026-11-20`. */
  date: z.string(),
  /** Start of the hour, such as `14:00`; absent for a day. */
  time: z.string().optional(),
})

/** The messages of a template, from a WhatsApp account or to a country. */
export const Share = Funnel.extend({
  /** The name of the template, the ID of the WhatsApp account or the ISO code of the country. */
  key: z.string(),
  /** The phone number of a WhatsApp account; absent if WhatsApp did not report it or the account was removed. */
  name: z.string().optional(),
})
export type Share = z.infer<typeof Share>

export const FailureCount = Funnel.pick({ refused: true, undelivered: true }).extend({
  /** WhatsApp's code or one of ours; empty if there is none. */
  code: z.string(),
  /** The cause in plain words. */
  meaning: z.string(),
  /** How to fix it, if known. */
  advice: z.string().optional(),
  facts: Facts.optional(),
})

/** A histogram bucket: messages that took less than `untilSeconds`, but not less than the bound of the previous bucket. */
export const DurationCount = z.object({
  /** Absent for the last bucket, which has no upper bound. */
  untilSeconds: z.number().optional(),
  count: Count,
})

/** The ten with the most messages and the ten with the most failures, most messages first. The totals include all others. */
const Shares = z.array(Share)

export const Overview = z.object({
  /** Oldest first, including days without messages. */
  days: z.array(DayCounts),
  unit: z.enum(['day', 'hour']),
  timeZone: z.string(),
  /** Start of the period, and its end, or the time of this request if the period is not over. */
  from: Timestamp,
  until: Timestamp,
  /** Whether the period has ended, so that no more messages are added to it. */
  isOver: z.boolean(),
  /** The day of the oldest counted message of the account; absent if there is none. */
  firstDay: z.string().optional(),
  /** Days before this one are UTC days. Absent if the period has no such days, or if the account's time zone is UTC. */
  utcBefore: z.string().optional(),
  /** Messages recorded before this time are missing in the breakdowns. Absent if the period starts later. */
  breakdownSince: Timestamp.optional(),
  /**
   * The requested period to compare with, or the previous one. Absent if the counts do not go back that far. If the
   * period is not over, the previous one is cut off at the same point.
   */
  previous: z.object({ from: z.string(), until: z.string(), totals: Funnel }).optional(),
  templates: Shares,
  numbers: Shares,
  countries: Shares,
  /** The sum of the days. */
  totals: Funnel,
  /** Messages of the period that are pending for more than a minute: WhatsApp's response was lost. */
  outcomeUnknown: Count,
  /** The ten most frequent, most frequent first. The totals include all others. */
  failures: z.array(FailureCount),
  /** Time from `sent` to `delivered`, for messages for which WhatsApp reported both. */
  timeToDelivered: z.array(DurationCount),
})
export type Overview = z.infer<typeof Overview>

const maxDays = 92

/** Days such as `2026-11-20` in the account's time zone, both inclusive. */
export const DayRange = z
  .strictObject({ from: Day, until: Day })
  .refine(({ from, until }) => from <= until, { path: ['until'], message: 'must not be before the start' })
  .refine(({ from, until }) => (Date.parse(until) - Date.parse(from)) / dayMilliseconds < maxDays, {
    path: ['until'],
    message: `must be less than ${maxDays} days after the start`,
  })
export type DayRange = z.infer<typeof DayRange>

/** The last 30 days by default. */
export const periodFields = {
  days: z.union([z.literal(7), z.literal(30), z.literal(90)]).default(30),
  /** Replaces `days`. */
  hours: z.literal(24).optional(),
  /** Replaces `days`: the current month to date, or the whole month or week before this one. Weeks start on Monday. */
  calendar: z.enum(['thisMonth', 'previousMonth', 'previousWeek']).optional(),
  /** Replaces `days`. */
  period: DayRange.optional(),
}

/** Uses stored counts, so it reads no messages. */
export const getOverview = viewerQuery({
  summary: 'What was sent, delivered, read and failed, by day',
  input: accountInput({
    ...periodFields,
    /** The previous period by default. */
    compareWith: DayRange.optional(),
  }),
  output: Overview,
})

export const setTimeZone = ownerChange({
  summary: 'Set the time zone in which the overview shows days',
  input: accountInput({ timeZone: TimeZone }),
  output: z.object({ timeZone: z.string() }),
  audit: changes.setTimeZone,
})
