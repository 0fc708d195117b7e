import { dayMilliseconds } from '../../../contracts/time.ts'
import type { Deps } from '../../deps.ts'
import { firstIdAt } from '../../platform/ids.ts'
import { claimBatches } from '../../platform/work-on-due.ts'
import { logFindings } from '../../whatsapp-accounts/health/log-findings.ts'
import { claimDuePortfolios, countPeople, findNumbersOfPortfolio, saveReach } from './store.ts'

const nextSeconds = 60
/** Twice the largest limit, and few enough that a count takes seconds at most on a small machine. */
const maxScanned = 200_000
/** A count waits longer the more it reads, so that counting takes a small share of the time. */
const scannedPerSecond = 1000
const maxClaimed = 20

type CountDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl'>

/**
 * Counts how many people the numbers of each business portfolio with a messaging limit addressed in the last 24 hours.
 * Sends neither wait for this nor write anything for it. Returns the number of portfolios.
 */
export async function countReach(deps: CountDeps, stopping?: AbortSignal): Promise<number> {
  let counted = 0
  const claim = () => claimDuePortfolios(deps.db, { limit: maxClaimed, nextSeconds })
  for await (const due of claimBatches(claim, stopping)) {
    for (const portfolioId of due) await countPortfolio(deps, portfolioId)
    counted += due.length
  }
  return counted
}

async function countPortfolio(deps: CountDeps, portfolioId: string): Promise<void> {
  const now = deps.now()
  const numbers = await findNumbersOfPortfolio(deps.db, portfolioId)
  if (numbers.length === 0) return
  const { people, byNumber, scanned, isComplete } = await countPeople(deps.db, numbers, {
    firstId: firstIdAt('msg', new Date(now.getTime() - dayMilliseconds)),
    firstEventId: firstIdAt('evt', new Date(now.getTime() - 2 * dayMilliseconds)),
    maxScanned,
  })
  const reach = { people, isComplete, countedAt: now.toISOString() }
  await saveReach(
    deps.db,
    numbers.map((ref) => ({ ...ref, reach: { ...reach, byNumber: byNumber.get(ref.whatsAppAccountId) ?? 0 } })),
    nextSeconds + Math.floor(scanned / scannedPerSecond),
  )
  await logFindings(deps, numbers)
}
