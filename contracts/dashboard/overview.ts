import { z } from 'zod'
import { Timestamp } from '../fields.ts'
import { ofAccount, dashboardProcedure } from '../procedure.ts'
import { TimeZone } from './alert.ts'
import { changes } from './changes.ts'

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

/** Messages recorded on one day, or in one hour. */
export const DayCounts = Funnel.extend({
  /** In the account's time zone, such as `2026-11-20`. */
  date: z.string(),
  /** Of an hour, such as `14:00`. */
  time: z.string().optional(),
})

/** The messages of a template, of a WhatsApp account or to a country. */
export const Share = Funnel.extend({
  /** The name of the template, the ID of the WhatsApp account or the ISO code of the country. */
  key: z.string(),
  /** The phone number of a WhatsApp account; absent if WhatsApp did not report it or the account was removed. */
  name: z.string().optional(),
})
export type Share = z.infer<typeof Share>

export const FailureCount = Funnel.pick({ refused: true, undelivered: true }).extend({
  /** WhatsApp's code, or one of ours; empty when there was none. */
  code: z.string(),
  /** In plain words. */
  meaning: z.string(),
  /** What to do about it, if there is anything to say. */
  advice: z.string().optional(),
})

/** One bar: messages that took less than `untilSeconds`, and no less than where the bar before ends. */
export const DurationCount = z.object({
  /** Absent of the last one, which has no end. */
  untilSeconds: z.number().optional(),
  count: Count,
})

/**
 * The ten with the most messages and the ten with the most failed ones, most messages first. Other messages are only in the
 * totals.
 */
const Shares = z.array(Share)

export const Overview = z.object({
  /** The oldest first; days without a message are there too. */
  days: z.array(DayCounts),
  unit: z.enum(['day', 'hour']),
  timeZone: z.string(),
  /** When the period starts, and when it ends or was read. */
  from: Timestamp,
  until: Timestamp,
  /** Whether the period ended, so that no message can be added to it. */
  isOver: z.boolean(),
  /** The day of the oldest message that is counted, in any period; absent if there is none. */
  firstDay: z.string().optional(),
  /** Days before this one are in UTC. Absent if no day of the period is, or the account's time zone is UTC. */
  utcBefore: z.string().optional(),
  /** Messages recorded before this time have no template, number and country. Absent if the period starts later. */
  breakdownSince: Timestamp.optional(),
  /**
   * The period that was asked for, or the one before, which is left out if messages are not counted for so long. If
   * the period is not over, the one before it ends as early.
   */
  previous: z.object({ from: z.string(), until: z.string(), totals: Funnel }).optional(),
  templates: Shares,
  numbers: Shares,
  countries: Shares,
  /** The sum of the days. */
  totals: Funnel,
  /** The most frequent first; at most ten. Less frequent ones are only in the totals. */
  failures: z.array(FailureCount),
  /** From `sent` to `delivered`, of the delivered messages for which WhatsApp reported both. */
  timeToDelivered: z.array(DurationCount),
})
export type Overview = z.infer<typeof Overview>

const maxDays = 92
const dayMilliseconds = 86_400_000

/** Days as `2026-11-20`, both included, in the account's time zone. */
export const DayRange = z
  .strictObject({ from: z.iso.date(), until: z.iso.date() })
  .refine(({ from, until }) => from <= until, { path: ['until'], message: 'must not be before the start' })
  .refine(({ from, until }) => (Date.parse(until) - Date.parse(from)) / dayMilliseconds < maxDays, {
    path: ['until'],
    message: `must be less than ${maxDays} days after the start`,
  })
export type DayRange = z.infer<typeof DayRange>

/** The last 30 days by default. */
export const periodFields = {
  days: z.union([z.literal(7), z.literal(30), z.literal(90)]).default(30),
  /** Instead of days. */
  hours: z.literal(24).optional(),
  /** Instead of days: from the first of the month to today, or the week before this one. Weeks start on Monday. */
  calendar: z.enum(['thisMonth', 'previousWeek']).optional(),
  /** Instead of the last days. */
  period: DayRange.optional(),
}

/** From counts that are kept beside the messages; it reads none of them. */
export const getOverview = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'What was sent, delivered, read and failed, by day',
  input: ofAccount({
    ...periodFields,
    /** By default, the period before. */
    compareWith: DayRange.optional(),
  }),
  output: Overview,
})

export const setTimeZone = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Set the time zone in which the overview shows days',
  input: ofAccount({ timeZone: TimeZone }),
  output: z.object({ timeZone: z.string() }),
  audit: ({ timeZone }) => changes.setTimeZone(timeZone),
})
