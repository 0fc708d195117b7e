import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { expiryDays } from './findings.ts'
import type { WhatsAppAccountRef } from '../store.ts'

/** A WhatsApp account whose state differs from the announced one. */
export interface ChangedRow {
  account_id: string
  id: string
  phone_number_id: string
  display_phone_number: string | null
  is_default: boolean
  active: boolean
  switched_off: boolean
  inactive_reason: string | null
  inactive_fact: string | null
  announced_active: boolean
  token_expires_at: Date | null
  /** The shortest notice of the token's expiry that is due, in days; null if none is due yet. */
  notice: number | null
  announced_expiry_days: number | null
  /** The rating if it differs from the announced one, otherwise null. */
  new_quality: Rating | null
  announced_quality: string | null
}

export const ratings = ['GREEN', 'YELLOW', 'RED'] as const
type Rating = (typeof ratings)[number]

const maxRows = 200

/**
 * Finds WhatsApp accounts whose activity, token expiry or quality rating differs from what was announced. In a
 * transaction, `claim` locks them, so that only one of several nodes announces them. Reads all accounts.
 */
export async function findChanged(
  db: Kysely<Database>,
  { now, claim }: { now: Date; claim: boolean },
): Promise<ChangedRow[]> {
  const { rows } = await sql<ChangedRow>`
    select w.account_id, w.id, w.phone_number_id, w.display_phone_number, w.is_default, w.active, w.switched_off,
      w.inactive_reason, w.inactive_fact, h.announced_active, h.token_expires_at, due.notice, h.announced_expiry_days,
      due.new_quality, h.announced_quality
    from whatsapp_account_health h
    join whatsapp_accounts w on w.id = h.whatsapp_account_id
    cross join lateral (
      select
        (select min(d) from unnest(${sql.val([...expiryDays])}::integer[]) d
          where h.token_expires_at < ${now}::timestamptz + (d + 1) * interval '24 hours') as notice,
        -- Any other value means that WhatsApp has not rated the number yet.
        case when w.quality_rating = any (${sql.val([...ratings])}::text[])
          and w.quality_rating is distinct from h.announced_quality then w.quality_rating end as new_quality
    ) due
    where h.announced_active <> w.active
      or h.announced_expiry_days is distinct from due.notice
      or due.new_quality is not null
    order by w.account_id, w.id
    limit ${maxRows}
    ${claim ? sql`for update of h skip locked` : sql``}`.execute(db)
  return rows
}

export async function markAnnounced(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  { active, notice, quality, at }: { active: boolean; notice: number | null; quality: string | null; at: Date },
): Promise<void> {
  await db
    .updateTable('whatsapp_account_health')
    .set({
      announced_active: active,
      announced_expiry_days: notice,
      announced_quality: quality,
      inactive_since: active ? null : sql<Date>`coalesce(inactive_since, ${at}::timestamptz)`,
    })
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .execute()
}
