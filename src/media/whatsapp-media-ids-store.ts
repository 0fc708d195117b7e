import { type Kysely, type NotNull, sql } from 'kysely'
import type { Database } from '../platform/db/schema.ts'

/** Identifies a file at one phone number of an account. */
export interface UploadKey {
  accountId: string
  phoneNumberId: string
  sha256: string
  type: string
}

/** This process may upload the file (`claimed`), another one is uploading it (`busy`), or WhatsApp has it. */
export type Claim = { kind: 'claimed' } | { kind: 'busy' } | { kind: 'uploaded'; waMediaId: string }

/** Returns WhatsApp's ID of a file, or claims its upload for this process, so that no other process uploads it. */
export async function claimUpload(
  db: Kysely<Database>,
  key: UploadKey,
  { claimant, now, until }: { claimant: string; now: Date; until: Date },
): Promise<Claim> {
  const { rows } = await sql<{ claimed: boolean; waMediaId: string | null }>`
    with claimed as (
      insert into media_at_whatsapp as m (account_id, phone_number_id, sha256, type, claimed_by, claimed_until)
      values (${key.accountId}, ${key.phoneNumberId}, ${key.sha256}, ${key.type}, ${claimant}, ${until})
      on conflict (account_id, phone_number_id, sha256, type) do update
        set claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
        where (m.wa_media_id is null or m.expires_at <= ${now}) and coalesce(m.claimed_until, ${now}) <= ${now}
      returning 1
    )
    select exists (select from claimed) as claimed, (
      select wa_media_id from media_at_whatsapp
      where account_id = ${key.accountId} and phone_number_id = ${key.phoneNumberId}
        and sha256 = ${key.sha256} and type = ${key.type} and expires_at > ${now}
    ) as "waMediaId"`.execute(db)
  const [row] = rows
  if (row?.claimed === true) return { kind: 'claimed' }
  const waMediaId = row?.waMediaId ?? undefined
  return waMediaId === undefined ? { kind: 'busy' } : { kind: 'uploaded', waMediaId }
}

/** Returns WhatsApp's IDs of files that it has for a phone number, by hash and type. */
export function findWhatsAppMediaIds(
  db: Kysely<Database>,
  { accountId, phoneNumberId, hashes, now }: Omit<UploadKey, 'sha256' | 'type'> & { hashes: string[]; now: Date },
): Promise<{ sha256: string; type: string; waMediaId: string }[]> {
  return db
    .selectFrom('media_at_whatsapp')
    .select(['sha256', 'type', 'wa_media_id as waMediaId'])
    .where('account_id', '=', accountId)
    .where('phone_number_id', '=', phoneNumberId)
    .where('sha256', 'in', hashes)
    .where('wa_media_id', 'is not', null)
    .where('expires_at', '>', now)
    .$narrowType<{ waMediaId: NotNull }>()
    .execute()
}

function matchesKey({ accountId, phoneNumberId, sha256, type }: UploadKey) {
  return sql<boolean>`account_id = ${accountId} and phone_number_id = ${phoneNumberId}
    and sha256 = ${sha256} and type = ${type}`
}

/**
 * If the claim expired, another process may have uploaded the file too: the later upload is kept. Returns false if the
 * file was deleted since it was claimed.
 */
export async function recordUploaded(
  db: Kysely<Database>,
  key: UploadKey,
  { waMediaId, expiresAt }: { waMediaId: string; expiresAt: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('media_at_whatsapp')
    .set({ wa_media_id: waMediaId, expires_at: expiresAt, claimed_by: null, claimed_until: null })
    .where(matchesKey(key))
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return true
  // A claim that expired may have been deleted, although its file is still there.
  const { accountId, phoneNumberId, sha256, type } = key
  const { rows } = await sql`
    insert into media_at_whatsapp (account_id, phone_number_id, sha256, type, wa_media_id, expires_at)
    select account_id, ${phoneNumberId}, sha256, type, ${waMediaId}, ${expiresAt}::timestamptz from media
    where account_id = ${accountId} and sha256 = ${sha256} and type = ${type} and deleted_at is null
    limit 1
    for share
    on conflict (account_id, phone_number_id, sha256, type) do update
      set wa_media_id = excluded.wa_media_id, expires_at = excluded.expires_at, claimed_by = null, claimed_until = null
    returning 1`.execute(db)
  return rows.length > 0
}

export async function renewClaim(
  db: Kysely<Database>,
  key: UploadKey,
  { claimant, until }: { claimant: string; until: Date },
): Promise<void> {
  await db
    .updateTable('media_at_whatsapp')
    .set({ claimed_until: until })
    .where(matchesKey(key))
    .where('claimed_by', '=', claimant)
    .execute()
}

export async function releaseClaim(db: Kysely<Database>, key: UploadKey, claimant: string): Promise<void> {
  await db.deleteFrom('media_at_whatsapp').where(matchesKey(key)).where('claimed_by', '=', claimant).execute()
}

/**
 * Deletes the WhatsApp IDs of a file for all phone numbers, and returns them, so that they can be deleted at WhatsApp.
 */
export function deleteWhatsAppMediaIds(
  db: Kysely<Database>,
  { accountId, sha256, type }: Omit<UploadKey, 'phoneNumberId'>,
): Promise<{ phoneNumberId: string; waMediaId: string | null }[]> {
  return db
    .deleteFrom('media_at_whatsapp')
    .where('account_id', '=', accountId)
    .where('sha256', '=', sha256)
    .where('type', '=', type)
    .returning(['phone_number_id as phoneNumberId', 'wa_media_id as waMediaId'])
    .execute()
}

/** Deletes WhatsApp IDs that expire by `expiresUntil`, so that the next send uploads the files again. */
export async function deleteWhatsAppMediaIdsUntil(
  db: Kysely<Database>,
  { accountId, waMediaIds, expiresUntil }: { accountId: string; waMediaIds: readonly string[]; expiresUntil: Date },
): Promise<void> {
  await db
    .deleteFrom('media_at_whatsapp')
    .where('account_id', '=', accountId)
    .where('wa_media_id', 'in', waMediaIds)
    .where('expires_at', '<=', expiresUntil)
    .execute()
}

/** Covers all accounts, because one process cleans up for all of them. */
export async function deleteExpiredWhatsAppMediaIds(db: Kysely<Database>, now: Date): Promise<void> {
  await db
    .deleteFrom('media_at_whatsapp')
    .where((eb) =>
      eb.or([eb('expires_at', '<=', now), eb.and([eb('wa_media_id', 'is', null), eb('claimed_until', '<=', now)])]),
    )
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .execute()
}
