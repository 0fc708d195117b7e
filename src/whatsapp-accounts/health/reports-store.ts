import { type Kysely, sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { ReportedChange } from '../account-changes.ts'
import { pairsOf, type WhatsAppAccountRef } from '../store.ts'
import { mergeNotices } from './notices.ts'

type ReportDeps = Pick<Deps, 'db' | 'log' | 'now'>

interface Row extends WhatsAppAccountRef {
  notices: ReturnType<typeof mergeNotices>
  limit: string | null
}

/** Stores what WhatsApp reported about accounts: restrictions, warnings, alerts and the messaging limit. */
export async function applyReports(deps: ReportDeps, changes: readonly ReportedChange[]): Promise<void> {
  const reported = changes.filter(({ change }) => change.notices.size > 0 || change.messagingLimit !== undefined)
  if (reported.length === 0) return
  const changeOf = new Map(reported.map(({ whatsAppAccountId, change }) => [whatsAppAccountId, change]))
  const now = deps.now()
  const logged = await deps.db.transaction().execute(async (trx) => {
    const logged: { ref: WhatsAppAccountRef; messagingLimit: string; previous: string | null }[] = []
    for (const { notices, limit, ...ref } of await lockReports(trx, reported)) {
      const change = changeOf.get(ref.whatsAppAccountId)
      if (!change) continue
      const merged = mergeNotices(notices, [...change.notices.values()], now)
      const messagingLimit = change.messagingLimit ?? limit
      await saveReport(trx, ref, { notices: JSON.stringify(merged), messaging_limit: messagingLimit })
      if (messagingLimit !== null && messagingLimit !== limit) logged.push({ ref, messagingLimit, previous: limit })
    }
    return logged
  })
  for (const { ref, messagingLimit, previous } of logged)
    deps.log.info({ ...ref, messagingLimit, previous }, 'WhatsApp changed the messaging limit')
}

/** Rows are locked in the order of callbacks. Each pair names its account. */
async function lockReports(trx: Kysely<Database>, refs: readonly WhatsAppAccountRef[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select account_id as "accountId", whatsapp_account_id as "whatsAppAccountId", notices, messaging_limit as "limit"
    from whatsapp_account_health
    where (account_id, whatsapp_account_id) in (${pairsOf(refs)})
    order by whatsapp_account_id
    for update`.execute(trx)
  return rows
}

async function saveReport(
  trx: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  columns: { notices: string; messaging_limit: string | null },
): Promise<void> {
  await trx
    .updateTable('whatsapp_account_health')
    .set(columns)
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .execute()
}
