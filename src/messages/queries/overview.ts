import type { z } from 'zod'
import type { FailureAdvice } from '../../../contracts/dashboard/message.ts'
import type { Funnel, getOverview as contract, Overview, Share } from '../../../contracts/dashboard/overview.ts'
import { errors } from '../../../contracts/errors.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import { failures } from '../../../contracts/facts/failures.ts'
import { unknownCode } from '../../../contracts/fields.ts'
import { toInternational } from '../../../contracts/phone-number.ts'
import { requireAccount } from '../../accounts/account.ts'
import { findWhatsAppAccounts } from '../../whatsapp-accounts/store.ts'
import type { Deps } from '../../deps.ts'
import { adviseOnFailure } from '../../whatsapp/failure-advice.ts'
import { countOutcomeUnknown } from '../store.ts'
import {
  type Count,
  type CountLimits,
  type Dimension,
  findCountLimits,
  findCounts,
  findTotals,
} from './counts-store.ts'
import {
  lastDays,
  lastHours,
  type Period,
  periodBefore,
  previousMonth,
  previousWeek,
  readClock,
  type Slot,
  thisMonth,
  toPeriod,
} from './periods.ts'

/** Start of each bar, in seconds. The trigger in message-counts.ts counts by these steps. */
const steps = [0, 1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400]
const maxListed = 10

type Counted = Pick<
  Overview,
  'days' | 'totals' | 'failures' | 'timeToDelivered' | 'templates' | 'numbers' | 'countries'
>

/** `names`: the phone numbers of WhatsApp accounts, by ID. */
export function toCounted(
  slots: readonly Pick<Slot, 'date' | 'time'>[],
  counts: readonly Count[],
  names: ReadonlyMap<string, string>,
): Counted {
  const of = (dimension: Dimension) => counts.filter((count) => count.dimension === dimension)
  const ofSlots = Map.groupBy(of('slot'), ({ key }) => Number(key))
  const durations = of('deliverySeconds')
  return {
    days: slots.map(({ date, time }, index) => ({
      date,
      ...(time !== undefined && { time }),
      ...toFunnel(ofSlots.get(index) ?? []),
    })),
    totals: toFunnel(of('slot')),
    failures: toFailures(of('reason')),
    timeToDelivered: steps.map((step, index) => {
      const untilSeconds = steps[index + 1]
      const count = sum(durations.filter(({ key }) => Number(key) === step))
      return { ...(untilSeconds !== undefined && { untilSeconds }), count }
    }),
    templates: toShares(of('template')),
    numbers: toShares(of('number')).map((share) => ({ ...share, ...nameOf(share.key, names) })),
    countries: toShares(of('country')),
  }
}

function nameOf(id: string, names: ReadonlyMap<string, string>): Pick<Share, 'name'> {
  const name = names.get(id)
  return name === undefined ? {} : { name }
}

type Stage = keyof Funnel
type StateCount = Pick<Count, 'status' | 'accepted' | 'count'>

/** Returns the stages in which a message is counted. */
function listStages({ status, accepted }: Omit<StateCount, 'count'>): readonly Stage[] {
  switch (status) {
    case 'pending':
      return []
    // An operator can resolve a message as sent whose WhatsApp ID is not known.
    case 'sent':
      return ['attempted', 'accepted']
    case 'delivered':
      return ['attempted', 'accepted', 'delivered']
    case 'read':
      return ['attempted', 'accepted', 'delivered', 'read']
    case 'failed':
      return accepted ? ['attempted', 'accepted', 'undelivered'] : ['attempted', 'refused']
  }
}

function toFunnel(counts: readonly StateCount[]): Funnel {
  const funnel = { attempted: 0, accepted: 0, delivered: 0, read: 0, refused: 0, undelivered: 0 }
  for (const counted of counts) for (const stage of listStages(counted)) funnel[stage] += counted.count
  return funnel
}

/** Messages without a value are only part of the totals. */
function toShares(counts: readonly Count[]): Share[] {
  const shares = [...Map.groupBy(counts, ({ key }) => key)]
    .map(([key, ofKey]) => ({ key, ...toFunnel(ofKey) }))
    .filter(({ key, attempted }) => key !== '' && attempted > 0)
    .toSorted((a, b) => b.attempted - a.attempted || (a.key < b.key ? -1 : 1))
  const failing = shares.toSorted((a, b) => countFailed(b) - countFailed(a)).slice(0, maxListed)
  const listed = new Set([...shares.slice(0, maxListed), ...failing.filter((share) => countFailed(share) > 0)])
  return shares.filter((share) => listed.has(share))
}

function countFailed({ refused, undelivered }: Funnel): number {
  return refused + undelivered
}

function toFailures(counts: readonly Count[]): Overview['failures'] {
  const failed = Map.groupBy(
    counts.filter(({ status }) => status === 'failed'),
    ({ key }) => (key === '' ? unknownCode : key),
  )
  return [...failed]
    .map(([code, ofCode]) => ({ code, count: sum(ofCode), ofCode }))
    .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
    .slice(0, maxListed)
    .map(({ code, ofCode }) => {
      const { refused, undelivered } = toFunnel(ofCode)
      return { code, ...explainFailure(code), refused, undelivered }
    })
}

export function explainFailure(code: string): Partial<FailureAdvice> & Pick<FailureAdvice, 'meaning'> {
  if (code === unknownCode) return withFacts({ meaning: failures.noReason() })
  const ours = Object.entries(errors).find(([name]) => name === code)?.[1].summary
  const advice = adviseOnFailure({ code, message: ours ?? '' })
  // For an unknown code, the advice is to look it up in WhatsApp's documentation, which does not list our codes.
  return advice.meaning === ours ? { meaning: ours } : advice
}

function sum(counts: readonly Pick<Count, 'count'>[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

type Input = z.output<(typeof contract)['input']>

export function choosePeriod(
  { days, hours, calendar, period }: Pick<Input, 'days' | 'hours' | 'calendar' | 'period'>,
  now: Date,
  timeZone: string,
): Period {
  if (period) return toPeriod(period, now, timeZone)
  if (hours !== undefined) return lastHours(now, hours, timeZone)
  if (calendar === 'thisMonth') return toPeriod(thisMonth(now, timeZone), now, timeZone)
  if (calendar === 'previousMonth') return toPeriod(previousMonth(now, timeZone), now, timeZone)
  if (calendar === 'previousWeek') return toPeriod(previousWeek(now, timeZone), now, timeZone)
  return toPeriod(lastDays(now, days, timeZone), now, timeZone)
}

/** Undefined if counting had not begun at the start of the previous period. */
function chooseEarlier(
  { compareWith }: Input,
  period: Period,
  now: Date,
  firstDay: string | undefined,
  timeZone: string,
) {
  if (compareWith) return toPeriod(compareWith, now, timeZone)
  const earlier = periodBefore(period, timeZone)
  return firstDay !== undefined && firstDay <= earlier.fromDay ? earlier : undefined
}

/** Describes which days are in UTC instead of the account's time zone, and which messages have no breakdown. */
function describeLimits(
  { start, firstBucketDay }: CountLimits,
  { unit, from, fromDay }: Period,
  timeZone: string,
): Pick<Overview, 'utcBefore' | 'breakdownSince'> {
  const startDay = start?.toISOString().slice(0, 10) ?? ''
  const utcBefore = startDay > firstBucketDay ? startDay : firstBucketDay
  return {
    ...(unit === 'day' && timeZone !== 'UTC' && fromDay < utcBefore && { utcBefore }),
    ...(start !== undefined && from < start && { breakdownSince: start.toISOString() }),
  }
}

/** Reads stored counts only, not the messages. */
export async function getOverview({ db, now }: Pick<Deps, 'db' | 'now'>, input: Input): Promise<Overview> {
  const { accountId } = input
  const [{ timeZone }, limits, numbers] = await Promise.all([
    requireAccount(db, accountId),
    findCountLimits(db, accountId),
    findWhatsAppAccounts(db, accountId),
  ])
  const at = now()
  const period = choosePeriod(input, at, timeZone)
  const firstDay = limits.oldest && readClock(limits.oldest, timeZone).date
  const earlier = chooseEarlier(input, period, at, firstDay, timeZone)
  const [counts, earlierCounts, outcomeUnknown] = await Promise.all([
    findCounts(db, accountId, period),
    earlier && findTotals(db, accountId, earlier),
    countOutcomeUnknown(db, accountId, period),
  ])
  const names = new Map(
    numbers.flatMap((row) => (row.displayPhoneNumber ? [[row.id, toInternational(row.displayPhoneNumber)]] : [])),
  )
  return {
    unit: period.unit,
    timeZone,
    from: period.from.toISOString(),
    until: period.until.toISOString(),
    isOver: period.until < at,
    ...(firstDay !== undefined && { firstDay }),
    ...describeLimits(limits, period, timeZone),
    ...(earlier && {
      previous: { from: earlier.fromDay, until: earlier.untilDay, totals: toFunnel(earlierCounts ?? []) },
    }),
    ...toCounted(period.slots, counts, names),
    outcomeUnknown,
  }
}
