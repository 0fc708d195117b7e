import type { Deps } from '../../deps.ts'
import { firstIdAt } from '../../platform/ids.ts'
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
const maxClaimed = 200

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
export async function measureTraffic(
  deps: Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl'>,
): Promise<number> {
  const due = await claimDueTraffic(deps.db, { limit: maxClaimed, nextSeconds })
  for (const [accountId, refs] of Map.groupBy(due, (ref) => ref.accountId)) {
    const traffic = await countLastHour(deps.db, accountId, windowAt(deps.now()))
    for (const ref of refs)
      if (await saveTraffic(deps.db, ref, await addWithoutStatus(deps, ref, traffic.get(ref.whatsAppAccountId))))
        await logFindings(deps, ref)
  }
  return due.length
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
