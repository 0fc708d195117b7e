import { msg, t } from '@lingui/core/macro'
import { describeEndpointFailure, type EndpointFailure } from '../../../../contracts/dashboard/endpoint-failure.ts'
import { sayFact } from '../../language/facts.ts'
import { dateFormat, numberFormat } from '../../language/format.ts'
import { i18n } from '../../language/i18n.ts'
import type { AttemptSlot } from '../../../../contracts/dashboard/webhook.ts'
import { describeDuration } from '../../ui/time.ts'

interface Range {
  from: string
  until: string
  slotSeconds: number
}

/** Returns all slots of a range, with zeros for slots without an attempt. */
export function fillSlots({ from, until, slotSeconds }: Range, slots: readonly AttemptSlot[]): AttemptSlot[] {
  const known = new Map(slots.map((slot) => [Date.parse(slot.startAt), slot]))
  const start = Date.parse(from)
  const count = Math.floor((Date.parse(until) - start) / (slotSeconds * 1000)) + 1
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * slotSeconds * 1000
    return known.get(at) ?? { startAt: new Date(at).toISOString(), attempts: 0, succeeded: 0 }
  })
}

const onePlace = { style: 'percent', maximumFractionDigits: 1 } as const
const smallest = 0.001

/** `98.2%`; only exact values are shown as 0% or 100%. */
export function describeRate(part: number, whole: number): string {
  if (whole === 0) return '–'
  if (part === 0 || part === whole) return numberFormat(onePlace).format(part / whole)
  return numberFormat(onePlace).format(Math.min(Math.max(part / whole, smallest), 1 - smallest))
}

/** `214 ms`, or `–` without an attempt. */
export function describeOptionalDuration(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : describeDuration(milliseconds)
}

const clock = { hour: 'numeric', minute: '2-digit' } as const
const dayAndTime = { month: 'short', day: 'numeric', ...clock } as const

/**
 * Formats a time to follow "since": `10:32` today, `yesterday, 18:04`, or with the date; in the reader's locale and time
 * zone. Other languages have another word before a time or a date, so each is a text of its own.
 */
export function describeSince(at: string, now: Date = new Date()): string {
  const date = new Date(at)
  const day = startOfDay(date)
  const time = dateFormat(clock).format(date)
  if (day === startOfDay(now)) return i18n._({ ...sinceTime, values: { time } })
  const yesterday = new Date(now)
  yesterday.setDate(yesterday.getDate() - 1)
  if (day === startOfDay(yesterday)) return t`yesterday, ${time}`
  const dayTime = dateFormat(dayAndTime).format(date)
  return i18n._({ ...sinceDate, values: { dayTime } })
}

const sinceTime = msg({ message: '{time}', context: 'since a time of today' })
const sinceDate = msg({ message: '{dayTime}', context: 'since a date' })

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}

/** `Nov 22, 10:00 – 10:30`: the time that a slot covers. */
export function describeSlot({ startAt }: AttemptSlot, slotSeconds: number): string {
  const start = new Date(startAt)
  return dateFormat(dayAndTime).formatRange(start, new Date(start.getTime() + slotSeconds * 1000))
}

/** `Nov 22, 10:32:05 – 10:47:11`: common parts are not repeated. */
export function describeTimeRange(from: string, until: string): string {
  return dateFormat({ ...dayAndTime, second: '2-digit' }).formatRange(new Date(from), new Date(until))
}

/** Why an endpoint fails, in one sentence. */
export function describeFailure(failure: EndpointFailure): string {
  return sayFact(describeEndpointFailure(failure, describeSince))
}
