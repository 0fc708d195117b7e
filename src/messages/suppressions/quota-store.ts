import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { storedKeysOf, toNumberKey } from './number-key.ts'

/** Counting a long list takes a moment, so callers who keep trying at the quota do not count it each time. */
const recountSeconds = 30
const validSeconds = 3600

export interface NewEntries {
  accountId: string
  /** Numbers and user IDs. */
  recipients: readonly string[]
}

/**
 * Reserves room for recipients who are not on the list yet. Returns false if there is not enough. Each statement is
 * short, because additions that wait for each other in transactions would occupy all connections. Room that an addition
 * then does not use is found when the list is counted again.
 */
export async function reserveEntries(db: Kysely<Database>, entries: NewEntries, quota: number): Promise<boolean> {
  const added = await countNew(db, entries)
  if (added === 0) return true
  const reservation = { accountId: entries.accountId, added, quota }
  if (await reserve(db, reservation)) return true
  await recount(db, entries.accountId)
  return reserve(db, reservation)
}

/** A recipient can be on the list under another name. */
async function countNew(db: Kysely<Database>, { accountId, recipients }: NewEntries): Promise<number> {
  const persons = [...new Set(recipients.map(toNumberKey))]
  const keys = persons.flatMap((person, n) => storedKeysOf(person).map((key) => ({ key, n })))
  const { rows } = await sql<{ listed: number }>`
    select count(distinct r.n)::integer as listed
    from unnest(
      ${sql.val(keys.map(({ key }) => key))}::text[], ${sql.val(keys.map(({ n }) => n))}::integer[]
    ) as r (key, n)
    left join recipient_identities i on i.account_id = ${accountId} and i.identity = r.key
    join suppressions s
      on s.account_id = ${accountId} and s.number_key = any (array[r.key, i.person]) and s.suppressed`.execute(db)
  return persons.length - (rows[0]?.listed ?? 0)
}

interface Reservation {
  accountId: string
  added: number
  quota: number
}

async function reserve(db: Kysely<Database>, { accountId, added, quota }: Reservation): Promise<boolean> {
  const { rows } = await sql`
    update suppression_usage set entries = entries + ${added}::integer
    where account_id = ${accountId} and entries + ${added}::integer <= ${quota}::integer
      and counted_at > now() - ${validSeconds} * interval '1 second'
    returning account_id`.execute(db)
  return rows.length > 0
}

/** Counts the list, unless it was counted a moment ago. */
async function recount(db: Kysely<Database>, accountId: string): Promise<void> {
  await sql`
    insert into suppression_usage as u (account_id, entries, counted_at)
    select ${accountId}, (select count(*) from suppressions where account_id = ${accountId} and suppressed), now()
    where not exists (
      select from suppression_usage
      where account_id = ${accountId} and counted_at > now() - ${recountSeconds} * interval '1 second'
    )
    on conflict (account_id) do update set entries = excluded.entries, counted_at = excluded.counted_at`.execute(db)
}

/** Makes room for another entry. */
export async function releaseEntry(db: Kysely<Database>, accountId: string): Promise<void> {
  await sql`
    update suppression_usage set entries = greatest(entries - 1, 0) where account_id = ${accountId}`.execute(db)
}
