import type {
  AttemptSlot,
  FailureGroup,
  getStatistics as statisticsContract,
  listActivity as activityContract,
  statisticsRanges,
} from '../../../contracts/dashboard/webhook.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import { readDeliveryFailure } from '../../../contracts/facts/deliveries.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import { endpointNotFound } from '../endpoints/endpoint.ts'
import { findEndpoint } from '../endpoints/store.ts'
import { type FailureRow, findFailures, findSlots, type SlotRange, type SlotRow } from './store.ts'

type Range = (typeof statisticsRanges)[number]

/** Slot lengths must be multiples of the slots in which attempts are counted. */
const ranges = {
  '24h': { slotSeconds: 1800, slots: 48 },
  '7d': { slotSeconds: 7200, slots: 84 },
} satisfies Record<Range, { slotSeconds: number; slots: number }>

/** Slots for the list of endpoints. */
const hourly = { slotSeconds: 3600, slots: 24 }

const maxFailures = 20

/** Counts the attempts of the last 24 hours at each endpoint of an account. */
export async function listActivity(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
): Promise<OutputOf<typeof activityContract>> {
  const now = await readDatabaseClock(db)
  const range = rangeUntil(now, hourly)
  const rowsByEndpoint = Map.groupBy(await findSlots(db, { accountId }, range), (row) => row.endpointId)
  return {
    ...describeRange(range, now),
    items: [...rowsByEndpoint].map(([endpointId, rows]) => ({
      endpointId,
      ...sumSlots(rows),
      slots: rows.map(toSlot),
    })),
  }
}

/** Counts the attempts at one endpoint over time, and failed attempts by error. */
export async function getStatistics(
  { db }: Pick<Deps, 'db'>,
  endpoint: { accountId: string; endpointId: string },
  range: Range,
): Promise<OutputOf<typeof statisticsContract>> {
  if (!(await findEndpoint(db, endpoint.accountId, endpoint.endpointId))) throw endpointNotFound(endpoint.endpointId)
  const now = await readDatabaseClock(db)
  const slots = rangeUntil(now, ranges[range])
  const rows = await findSlots(db, endpoint, slots)
  // One extra row shows whether there are more.
  const failures = await findFailures(db, endpoint, { from: slots.from, limit: maxFailures + 1 })
  return {
    ...describeRange(slots, now),
    totals: sumSlots(rows),
    slots: rows.map(toSlot),
    failures: failures.slice(0, maxFailures).map(toFailure),
    hasMoreFailures: failures.length > maxFailures,
  }
}

/** Returns whole slots, the last of which is the current one. */
function rangeUntil(now: Date, { slotSeconds, slots }: { slotSeconds: number; slots: number }): SlotRange {
  const milliseconds = slotSeconds * 1000
  const current = Math.floor(now.getTime() / milliseconds) * milliseconds
  return { from: new Date(current - (slots - 1) * milliseconds), slotSeconds }
}

function describeRange({ from, slotSeconds }: SlotRange, now: Date) {
  return { from: from.toISOString(), until: now.toISOString(), slotSeconds }
}

function toSlot(row: SlotRow): AttemptSlot {
  return { startAt: row.startAt.toISOString(), ...sumSlots([row]) }
}

function sumSlots(rows: readonly SlotRow[]) {
  const attempts = sumOf(rows, 'attempts')
  const counts = { attempts, succeeded: sumOf(rows, 'succeeded') }
  if (attempts === 0) return counts
  return {
    ...counts,
    averageMilliseconds: sumOf(rows, 'durationMilliseconds') / attempts,
    slowestMilliseconds: Math.max(...rows.map((row) => row.maxDurationMilliseconds)),
  }
}

function sumOf(rows: readonly SlotRow[], column: 'attempts' | 'succeeded' | 'durationMilliseconds'): number {
  return rows.reduce((sum, row) => sum + row[column], 0)
}

function toFailure(row: FailureRow): FailureGroup {
  return {
    ...withFacts({ error: readDeliveryFailure(row.error) }),
    attempts: row.attempts,
    firstAt: row.firstAt.toISOString(),
    lastAt: row.lastAt.toISOString(),
  }
}
