import type { Kysely } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { restoreErased } from '../suppressions/erased-store.ts'
import { findHashKey } from '../suppressions/number-key.ts'
import { replacesReason } from '../suppressions/opt-out-reasons.ts'
import { deleteSuppression, lockSuppressions, type SuppressionRow, writeSuppression } from '../suppressions/store.ts'
import {
  type IdentityChangeReport,
  type IdentityReport,
  keysOf,
  planIdentities,
  type SuppressionTransfer,
} from './plan-identities.ts'
import { findIdentities, lockRecipients, writeIdentities } from './store.ts'

/**
 * Stores names that WhatsApp reported. If one of them was suppressed, the person is suppressed under all of them. Call it
 * within the transaction of the callback, so that a repeated callback repeats it.
 */
export async function storeIdentities(
  deps: Pick<Deps, 'newId' | 'secrets'>,
  trx: Kysely<Database>,
  reports: readonly (IdentityReport | IdentityChangeReport)[],
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
  await transferSuppressions(deps, trx, plan.transfers)
}

function isEmpty({ changed, removed, transfers }: ReturnType<typeof planIdentities>): boolean {
  return changed.length + removed.length + transfers.length === 0
}

/**
 * Moves or copies suppressions from one name of a person to another, in order. Requires the lock of the account's
 * recipients (recipients/store.ts).
 */
async function transferSuppressions(
  deps: Pick<Deps, 'newId' | 'secrets'>,
  trx: Kysely<Database>,
  transfers: readonly SuppressionTransfer[],
): Promise<void> {
  if (transfers.length === 0) return
  const names = transfers.flatMap(({ accountId, from, shown }) => [
    { accountId, recipient: from },
    { accountId, recipient: shown },
  ])
  await restoreErased(trx, await findHashKey(trx, deps.secrets), names)
  const stored = await lockSuppressions(
    trx,
    transfers.flatMap(({ accountId, from, to }) => [from, to].map((key) => ({ accountId, key }))),
  )
  const rows = new Map(stored.map((row) => [keyOf(row.accountId, row.key), row]))
  if (rows.size === 0) return
  const changed = new Set<string>()
  for (const { accountId, from, to, kind, shown } of transfers) {
    const source = rows.get(keyOf(accountId, from))
    if (!source || from === to) continue
    const target = rows.get(keyOf(accountId, to))
    const merged = target ? mergeDecisions(target, source) : { ...source, id: deps.newId('sup') }
    rows.set(keyOf(accountId, to), {
      ...merged,
      accountId,
      key: to,
      to: target?.to ?? shown,
      id: target?.id ?? merged.id,
    })
    changed.add(keyOf(accountId, to))
    if (kind === 'copy') continue
    rows.delete(keyOf(accountId, from))
    changed.add(keyOf(accountId, from))
  }
  for (const key of [...changed].sort()) await write(trx, key, rows.get(key))
}

function keyOf(accountId: string, numberKey: string): string {
  return `${accountId} ${numberKey}`
}

/** Few names have a suppression, so rows are written one by one. */
async function write(trx: Kysely<Database>, key: string, row: SuppressionRow | undefined): Promise<void> {
  if (row) return writeSuppression(trx, row)
  const [accountId = '', numberKey = ''] = key.split(' ')
  await deleteSuppression(trx, accountId, numberKey)
}

export type SuppressionDecision = Pick<
  SuppressionRow,
  'id' | 'suppressed' | 'reason' | 'whatsAppAccountId' | 'since' | 'changedAt' | 'allMessages' | 'addedBy'
>

/**
 * The decision about a person of whom two were stored, under two names: the older one, with the later one applied to it
 * by the rules of `decide_suppressions` (choices-store.ts).
 */
export function mergeDecisions(one: SuppressionDecision, other: SuppressionDecision): SuppressionDecision {
  const [older, later] = one.changedAt <= other.changedAt ? [one, other] : [other, one]
  if (!later.suppressed) return older.suppressed && !optInApplies(older, later) ? older : later
  if (!older.suppressed) return later
  const { reason, whatsAppAccountId, addedBy } = replacesReason(older.reason, later.reason) ? later : older
  const allMessages = older.allMessages || later.allMessages
  return { ...later, since: older.since, reason, whatsAppAccountId, addedBy, allMessages }
}

/** Users can remove every entry. START reverts STOP, but not a choice made in WhatsApp. */
function optInApplies(optOut: SuppressionDecision, optIn: SuppressionDecision): boolean {
  if (optIn.reason === 'manual' || optIn.reason === optOut.reason) return true
  return optIn.reason === 'preference' && (optOut.reason === 'reply' || optOut.reason === 'rejected')
}
