import type { z } from 'zod'
import type { getOverview as contract, Overview } from '../../../contracts/dashboard/overview.ts'
import { errors } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { adviseOnFailure } from '../../whatsapp/failure-advice.ts'
import { findCounts, type StateCount } from './counts-store.ts'

/** Where a bar begins, in seconds. The trigger of migration 0005 counts by these steps. */
const steps = [0, 1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400]
const maxFailures = 10
const dayMilliseconds = 86_400_000

/** The last `count` days in UTC, the one of `now` included, the oldest first. */
function listDays(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now.getTime() - (count - 1 - index) * dayMilliseconds).toISOString().slice(0, 10),
  )
}

function toOverview(days: readonly string[], counts: readonly StateCount[]): Overview {
  const ofDays = Map.groupBy(counts, ({ day }) => day)
  return {
    days: days.map((date) => toDayCounts(date, ofDays.get(date) ?? [])),
    failures: toFailures(counts),
    timeToDelivered: steps.map((step, index) => {
      const untilSeconds = steps[index + 1]
      const count = sum(counts.filter(({ deliverySeconds }) => deliverySeconds === step))
      return { ...(untilSeconds !== undefined && { untilSeconds }), count }
    }),
  }
}

function toDayCounts(date: string, counts: readonly StateCount[]): Overview['days'][number] {
  return {
    date,
    sent: sum(counts.filter(({ accepted }) => accepted)),
    delivered: sum(counts.filter(({ status }) => status === 'delivered' || status === 'read')),
    read: sum(counts.filter(({ status }) => status === 'read')),
    failed: sum(counts.filter(({ status }) => status === 'failed')),
    failedLater: sum(counts.filter(({ status, accepted }) => status === 'failed' && accepted)),
  }
}

function toFailures(counts: readonly StateCount[]): Overview['failures'] {
  const failed = Map.groupBy(
    counts.filter(({ status }) => status === 'failed'),
    ({ errorCode }) => errorCode,
  )
  return [...failed]
    .map(([code, ofCode]) => ({ code, meaning: describe(code), count: sum(ofCode) }))
    .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
    .slice(0, maxFailures)
}

function describe(code: string): string {
  if (code === '') return 'WhatsApp gave no reason.'
  const ours = Object.entries(errors).find(([name]) => name === code)?.[1].summary
  return adviseOnFailure({ code, message: ours ?? '' }).meaning
}

function sum(counts: readonly StateCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

/** From counts that are kept beside the messages; it reads none of them. */
export async function getOverview(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  { accountId, days }: z.output<(typeof contract)['input']>,
): Promise<Overview> {
  const listed = listDays(now(), days)
  return toOverview(listed, await findCounts(db, accountId, listed[0] ?? ''))
}
