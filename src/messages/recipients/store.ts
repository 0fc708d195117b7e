import { type Kysely, type RawBuilder, sql } from 'kysely'
import { arraysOf, type Columns, fieldsOf, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement, unnamedStatement } from '../../platform/db/statement.ts'
import { spellingsOf, storedKeysOf, toNumberKey } from '../suppressions/number-key.ts'
import type { StoredIdentity } from './plan-identities.ts'

export const identityColumns: Columns<StoredIdentity> = {
  accountId: { name: 'account_id', type: 'word' },
  identity: { name: 'identity', type: 'word' },
  person: { name: 'person', type: 'word' },
  number: { name: 'number', type: 'text' },
  wabaId: { name: 'waba_id', type: 'text' },
  seenAt: { name: 'seen_at', type: 'timestamptz' },
}

export interface IdentityReference {
  accountId: string
  identity: string
}

const referenceColumns: Columns<IdentityReference> = {
  accountId: { name: 'account_id', type: 'word' },
  identity: { name: 'identity', type: 'word' },
}

const findAll = unnamedStatement<Lists<IdentityReference>, StoredIdentity>(
  ($) => `with person as (
    select distinct i.account_id, i.person
    from unnest(${arraysOf($, referenceColumns)}) as r (${namesOf(referenceColumns)})
    join recipient_identities i on i.account_id = r.account_id and i.identity = r.identity
  )
  select ${fieldsOf(identityColumns, 'i')} from person
  join recipient_identities i on i.account_id = person.account_id and i.person = person.person`,
)

/** All names of the persons who have one of these names. */
export async function findIdentities(
  db: Kysely<Database>,
  references: readonly IdentityReference[],
): Promise<StoredIdentity[]> {
  return references.length === 0 ? [] : findAll(db, listsOf(referenceColumns, references))
}

/**
 * One transaction at a time changes the names of an account's recipients or their decisions. Otherwise a decision about
 * one name could be stored while another transaction learns that the name belongs to a number. Taken after the locks of
 * messages, and before that of `event_clocks`.
 */
export async function lockRecipients(trx: Kysely<Database>, accountIds: readonly string[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(account_id, ${sql.lit(lockSeed)}))
    from (select distinct account_id from unnest(${accountIds}::text[]) as a (account_id) order by account_id offset 0) a`.execute(
    trx,
  )
}

/** An arbitrary number that keeps the keys apart from those of other locks. */
const lockSeed = 5_041

const upsert = statement<Lists<StoredIdentity>>(
  'store_recipient_identities',
  ($) => `insert into recipient_identities (${namesOf(identityColumns)})
  select * from unnest(${arraysOf($, identityColumns)})
  on conflict (account_id, identity) do update set
    person = excluded.person, number = excluded.number, waba_id = excluded.waba_id, seen_at = excluded.seen_at`,
)

/** Requires the lock. */
export async function writeIdentities(
  trx: Kysely<Database>,
  { changed, removed }: { changed: readonly StoredIdentity[]; removed: readonly IdentityReference[] },
): Promise<void> {
  if (removed.length > 0)
    await sql`
      delete from recipient_identities i
      using unnest(${removed.map(({ accountId }) => accountId)}::text[], ${removed.map(({ identity }) => identity)}::text[])
        as r (account_id, identity)
      where i.account_id = r.account_id and i.identity = r.identity`.execute(trx)
  if (changed.length > 0) await upsert(trx, listsOf(identityColumns, changed))
}

/** An array of the keys of a recipient under any name: its own, and those that WhatsApp reported. */
export function keysUnderAnyName(accountId: string, recipient: string): RawBuilder<string[]> {
  const own = storedKeysOf(recipient)
  return sql`(${own}::text[] || array(
    select other.identity from recipient_identities known
    join recipient_identities other on other.account_id = known.account_id and other.person = known.person
    where known.account_id = ${accountId} and known.identity = any(${own}::text[])
  ))`
}

/** The same text for all names of a recipient that WhatsApp reported. */
export function personOf(accountId: string, recipient: string): RawBuilder<string> {
  return sql`coalesce((
    select person from recipient_identities
    where account_id = ${accountId} and identity = any(${storedKeysOf(recipient)}::text[]) limit 1
  ), ${toNumberKey(recipient)})`
}

/** The spellings and user IDs of a recipient to which messages were sent; the given one if there are none. */
export async function findAddressedNames(
  db: Kysely<Database>,
  accountId: string,
  recipient: string,
): Promise<string[]> {
  const keys = await findKeysOf(db, accountId, recipient)
  const names = [...new Set([recipient, ...keys.flatMap(spellingsOf)])]
  if (names.length === 1) return names
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) as n (name)
    where exists (select from messages m where m.to_number = n.name and m.account_id = ${accountId})`.execute(db)
  return rows.length === 0 ? [recipient] : rows.map(({ name }) => name)
}

/** The keys of a recipient under any name, its own first. */
export async function findKeysOf(db: Kysely<Database>, accountId: string, recipient: string): Promise<string[]> {
  const own = storedKeysOf(recipient)
  const known = await findIdentities(
    db,
    own.map((identity) => ({ accountId, identity })),
  )
  return [...new Set([...own, ...known.flatMap(({ identity }) => storedKeysOf(identity))])]
}

/** Rows per statement, so that none runs long. */
const defaultBatchSize = 5_000

interface IdentityPosition {
  seenAt: string
  accountId: string
  identity: string
}

/**
 * Deletes names that WhatsApp has not reported for as long as messages are kept, of all accounts. The names of someone
 * with a suppression are kept: without them, a message to another name would be sent. Each batch continues after the
 * previous one, because many old names can be kept.
 */
export async function deleteOldIdentities(
  db: Kysely<Database>,
  { now, retentionDays, batchSize = defaultBatchSize }: { now: Date; retentionDays: number; batchSize?: number },
): Promise<void> {
  const isOld = sql`seen_at < ${now}::timestamptz - ${sql.lit(retentionDays)} * interval '1 day'`
  for (let last: IdentityPosition | undefined; ;) {
    const isNext: RawBuilder<unknown> = last
      ? sql`(seen_at, account_id, identity) > (${last.seenAt}::timestamptz, ${last.accountId}, ${last.identity})`
      : sql`true`
    const { rows } = await sql<IdentityPosition>`
      with examined as (
        select ctid as row_ctid, seen_at, account_id, identity, person from recipient_identities
        where ${isOld} and ${isNext}
        order by seen_at, account_id, identity limit ${sql.lit(batchSize)}
      ), deleted as (
        delete from recipient_identities where ctid = any(array(
          select row_ctid from examined e where not exists (
            select from suppressions s where s.account_id = e.account_id and s.number_key = e.person and s.suppressed
          )
        ))
      )
      select seen_at::text as "seenAt", account_id as "accountId", identity from examined
      order by seen_at, account_id, identity offset ${sql.lit(batchSize - 1)}`.execute(db)
    last = rows[0]
    if (!last) return
  }
}
