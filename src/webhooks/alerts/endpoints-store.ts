import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { failingReason, goneReason } from '../queue/store.ts'

/** Shorter outages are mostly deployments of the customer. */
const failingSeconds = 5 * 60

/** An endpoint that fails and was not announced, or that was announced and works again. */
export interface ChangedEndpointRow {
  account_id: string
  id: string
  url: string
  description: string | null
  enabled: boolean
  disabled_reason: string | null
  failing_since: Date | null
  fails: boolean
}

const maxRows = 200

/**
 * Finds endpoints that fail, or that Waybill disabled, and those that do no longer, unless that was announced. In a
 * transaction, `claim` locks them, so that of several nodes one announces. Reads all accounts.
 */
export async function findChangedEndpoints(
  db: Kysely<Database>,
  { claim }: { claim: boolean },
): Promise<ChangedEndpointRow[]> {
  const disabledByWaybill = [failingReason, goneReason]
  const { rows } = await sql<ChangedEndpointRow>`
    select e.account_id, e.id, e.url, e.description, e.enabled, e.disabled_reason, e.failing_since, now.fails
    from webhook_endpoints e
    cross join lateral (
      select case when e.enabled
        then coalesce(e.failing_since <= now() - ${failingSeconds} * interval '1 second', false)
        else coalesce(e.disabled_reason = any (${sql.val(disabledByWaybill)}::text[]), false)
      end as fails
    ) now
    where now.fails and not e.announced_failing
      -- An endpoint that its owner disabled while it failed is neither failing nor well.
      or e.announced_failing and not now.fails and e.enabled and e.failing_since is null
    order by e.account_id, e.id
    limit ${maxRows}
    ${claim ? sql`for no key update of e skip locked` : sql``}`.execute(db)
  return rows
}

export async function markEndpoint(
  db: Kysely<Database>,
  { account_id, id }: ChangedEndpointRow,
  fails: boolean,
): Promise<void> {
  await db
    .updateTable('webhook_endpoints')
    .set({ announced_failing: fails })
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .execute()
}
