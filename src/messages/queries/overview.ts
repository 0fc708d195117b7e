import type { z } from 'zod'
import type { Funnel, getOverview as contract, Overview } from '../../../contracts/dashboard/overview.ts'
import { errors } from '../../../contracts/errors.ts'
import { noReason } from '../../../contracts/fields.ts'
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

/** A message that is recorded at midnight, after the days were listed, is left out everywhere. */
export function toOverview(days: readonly string[], allCounts: readonly StateCount[]): Overview {
  const counts = allCounts.filter(({ day }) => days.includes(day))
  const ofDays = Map.groupBy(counts, ({ day }) => day)
  return {
    days: days.map((date) => ({ date, ...toFunnel(ofDays.get(date) ?? []) })),
    totals: toFunnel(counts),
    failures: toFailures(counts),
    timeToDelivered: steps.map((step, index) => {
      const untilSeconds = steps[index + 1]
      const count = sum(counts.filter(({ deliverySeconds }) => deliverySeconds === step))
      return { ...(untilSeconds !== undefined && { untilSeconds }), count }
    }),
  }
}

type Stage = keyof Funnel

/** The stages in which a message counts. */
function listStages({ status, accepted }: Pick<StateCount, 'status' | 'accepted'>): readonly Stage[] {
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

function toFunnel(counts: readonly Pick<StateCount, 'status' | 'accepted' | 'count'>[]): Funnel {
  const funnel = { attempted: 0, accepted: 0, delivered: 0, read: 0, refused: 0, undelivered: 0 }
  for (const counted of counts) for (const stage of listStages(counted)) funnel[stage] += counted.count
  return funnel
}

function toFailures(counts: readonly StateCount[]): Overview['failures'] {
  const failed = Map.groupBy(
    counts.filter(({ status }) => status === 'failed'),
    ({ errorCode }) => (errorCode === '' ? noReason : errorCode),
  )
  return [...failed]
    .map(([code, ofCode]) => ({ code, count: sum(ofCode), ofCode }))
    .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
    .slice(0, maxFailures)
    .map(({ code, ofCode }) => {
      const { refused, undelivered } = toFunnel(ofCode)
      return { code, meaning: describe(code), refused, undelivered }
    })
}

function describe(code: string): string {
  if (code === noReason) return 'WhatsApp gave no reason.'
  const ours = Object.entries(errors).find(([name]) => name === code)?.[1].summary
  return adviseOnFailure({ code, message: ours ?? '' }).meaning
}

function sum(counts: readonly Pick<StateCount, 'count'>[]): number {
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
