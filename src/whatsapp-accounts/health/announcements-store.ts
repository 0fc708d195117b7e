import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { expiryDays } from './findings.ts'
import type { WhatsAppAccountRef } from '../store.ts'

/** A WhatsApp account whose state differs from the announced one. */
export interface ChangedRow {
  accountId: string
  id: string
  phoneNumberId: string
  displayPhoneNumber: string | null
  isDefault: boolean
  active: boolean
  switchedOff: boolean
  inactiveReason: string | null
  inactiveFact: string | null
  announcedActive: boolean
  tokenExpiresAt: Date | null
  /** The shortest notice of the token's expiry that is due, in days; null if none is due yet. */
  notice: number | null
  announcedExpiryDays: number | null
  /** The rating if it differs from the announced one, otherwise null. */
  newQuality: Rating | null
  announcedQuality: string | null
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
    select w.account_id as "accountId", w.id, w.phone_number_id as "phoneNumberId",
      w.display_phone_number as "displayPhoneNumber", w.is_default as "isDefault", w.active,
      w.switched_off as "switchedOff", w.inactive_reason as "inactiveReason", w.inactive_fact as "inactiveFact",
      h.announced_active as "announcedActive", h.token_expires_at as "tokenExpiresAt", due.notice,
      h.announced_expiry_days as "announcedExpiryDays", due.new_quality as "newQuality",
      h.announced_quality as "announcedQuality"
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
