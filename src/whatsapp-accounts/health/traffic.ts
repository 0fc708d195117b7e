import type { Deps } from '../../deps.ts'
import { firstIdAt } from '../../platform/ids.ts'
import { claimBatches } from '../../platform/work-on-due.ts'
import { logFindings } from './log-findings.ts'
import type { StoredTraffic } from '../../platform/db/schema.ts'
import {
  claimDueTraffic,
  countLastHour,
  countWithoutStatus,
  type MeasuredAccount,
  noTraffic,
  saveTraffic,
  type TrafficWindow,
} from './traffic-store.ts'

const hour = 3_600_000
/** WhatsApp reports the first status of a message within seconds. */
const settledAfter = 5 * 60_000
/** The alert waits longer, because WhatsApp may retry a callback. */
const overdueAfter = 10 * 60_000
const nextSeconds = 60
/** One statement counts the messages of all accounts of a claim, so it must not have too many. */
const maxClaimed = 50

type TrafficDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl'>

export function windowAt(now: Date, settled = settledAfter): TrafficWindow {
  return {
    firstId: firstIdAt('msg', new Date(now.getTime() - hour)),
    settledId: firstIdAt('msg', new Date(now.getTime() - settled)),
  }
}

/**
 * Counts the messages of the last hour for the WhatsApp accounts that are due, and logs changed findings. Metrics,
 * doctor and log read the stored counts, because counting at each read would cost too much.
 */
export async function measureTraffic(deps: TrafficDeps, stopping?: AbortSignal): Promise<number> {
  let measured = 0
  const claim = () => claimDueTraffic(deps.db, { limit: maxClaimed, nextSeconds })
  for await (const due of claimBatches(claim, stopping)) {
    await measure(deps, due)
    measured += due.length
  }
  return measured
}

async function measure(deps: TrafficDeps, due: readonly MeasuredAccount[]): Promise<void> {
  const accountIds = [...new Set(due.map(({ accountId }) => accountId))]
  const traffic = await countLastHour(deps.db, accountIds, windowAt(deps.now()))
  const counted = []
  for (const ref of due)
    counted.push({ ...ref, traffic: await addWithoutStatus(deps, ref, traffic.get(ref.whatsAppAccountId)) })
  await logFindings(deps, await saveTraffic(deps.db, counted))
}

async function addWithoutStatus(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  ref: MeasuredAccount,
  traffic: StoredTraffic = noTraffic(),
): Promise<StoredTraffic> {
  if (traffic.sent === 0) return traffic
  const withoutStatus = await countWithoutStatus(db, ref, windowAt(now(), overdueAfter))
  return { ...traffic, ...(withoutStatus && { withoutStatus }) }
}
