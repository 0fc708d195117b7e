import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import type { WhatsAppAccountRef } from '../store.ts'

/**
 * Claims accounts whose valid token expires within `days`, so that only one of several nodes refreshes each. The next
 * attempt is due after `nextSeconds`. Inactive accounts are skipped, because their users must act first. Reads all
 * accounts.
 */
export async function claimDueRefreshes(
  db: Kysely<Database>,
  { now, days, limit, nextSeconds }: { now: Date; days: number; limit: number; nextSeconds: number },
): Promise<WhatsAppAccountRef[]> {
  const { rows } = await sql<WhatsAppAccountRef>`
    with due as (
      select h.whatsapp_account_id from whatsapp_account_health h
      join whatsapp_accounts w on w.id = h.whatsapp_account_id
      where h.token_expires_at > ${now}::timestamptz
        and h.token_expires_at < ${now}::timestamptz + ${days} * interval '24 hours'
        and coalesce(h.token_refresh_due_at <= now(), true)
        and h.app_id is not null and h.token_problem is null and not w.switched_off and w.inactive_reason is null
      order by h.token_expires_at limit ${limit}
      for update of h skip locked
    )
    update whatsapp_account_health h set token_refresh_due_at = now() + ${nextSeconds} * interval '1 second'
    from due
    where h.whatsapp_account_id = due.whatsapp_account_id
    returning h.account_id as "accountId", h.whatsapp_account_id as "whatsAppAccountId"`.execute(db)
  return rows
}
