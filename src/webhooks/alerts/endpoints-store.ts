import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { failingReason, goneReason } from '../queue/store.ts'

/** Shorter outages are usually deployments. */
const failingSeconds = 5 * 60

/** An endpoint whose failure or recovery has not been announced. */
export interface ChangedEndpointRow {
  account_id: string
  id: string
  url: string
  description: string | null
  enabled: boolean
  disabled_reason: string | null
  failing_since: Date | null
  is_failing: boolean
}

const maxRows = 200

/**
 * Finds endpoints that started failing, that Waybill disabled or that recovered, and whose change has not been
 * announced. In a transaction, `claim` locks them, so that only one node announces each. Reads all accounts.
 */
export async function findChangedEndpoints(
  db: Kysely<Database>,
  { claim }: { claim: boolean },
): Promise<ChangedEndpointRow[]> {
  const disabledByWaybill = [failingReason, goneReason]
  const { rows } = await sql<ChangedEndpointRow>`
    select e.account_id, e.id, e.url, e.description, e.enabled, e.disabled_reason, e.failing_since, state.is_failing
    from webhook_endpoints e
    cross join lateral (
      select case when e.enabled
        then coalesce(e.failing_since <= now() - ${failingSeconds} * interval '1 second', false)
        else coalesce(e.disabled_reason = any (${sql.val(disabledByWaybill)}::text[]), false)
      end as is_failing
    ) state
    where state.is_failing and not e.announced_failing
      -- A failing endpoint that a user disabled has not recovered.
      or e.announced_failing and not state.is_failing and e.enabled and e.failing_since is null
    order by e.account_id, e.id
    limit ${maxRows}
    ${claim ? sql`for no key update of e skip locked` : sql``}`.execute(db)
  return rows
}

export async function markEndpoint(
  db: Kysely<Database>,
  { account_id, id }: ChangedEndpointRow,
  isFailing: boolean,
): Promise<void> {
  await db
    .updateTable('webhook_endpoints')
    .set({ announced_failing: isFailing })
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .execute()
}
