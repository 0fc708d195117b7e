import type { Kysely } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { carrySuppressions } from '../suppressions/carry-store.ts'
import { keysOf, type Move, planIdentities, type Sighting } from './plan.ts'
import { findIdentities, lockRecipients, writeIdentities } from './store.ts'

/**
 * Stores names that WhatsApp reported. If one of them was suppressed, the person is suppressed under all of them. Call it
 * within the transaction of the callback, so that a repeated callback repeats it.
 */
export async function learnIdentities(
  trx: Kysely<Database>,
  reports: readonly (Sighting | Move)[],
  deps: Pick<Deps, 'newId' | 'secrets'>,
): Promise<void> {
  if (reports.length === 0) return
  const references = reports.flatMap((report) => {
    const names = 'previous' in report ? [report.previous, report.current] : [report]
    return names.flatMap(keysOf).map((identity) => ({ accountId: report.accountId, identity }))
  })
  // Most names are known, and then no lock is needed.
  if (isEmpty(planIdentities(await findIdentities(trx, references), reports))) return
  await lockRecipients(
    trx,
    reports.map(({ accountId }) => accountId),
  )
  const plan = planIdentities(await findIdentities(trx, references), reports)
  await writeIdentities(trx, plan)
  await carrySuppressions(trx, plan.carries, deps)
}

function isEmpty({ changed, removed, carries }: ReturnType<typeof planIdentities>): boolean {
  return changed.length + removed.length + carries.length === 0
}
