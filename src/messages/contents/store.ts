import { type Kysely, sql } from 'kysely'
import { dayMilliseconds } from '../../../contracts/time.ts'
import { retryLocked } from '../../platform/db/locks.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstIdAt } from '../../platform/ids.ts'

export interface ContentRow {
  accountId: string
  messageId: string
  ciphertext: string
}

/** How an account stores the contents of its messages. */
interface Storage {
  keptDays: number | null
  since: Date | null
}

/**
 * Returns the first message ID whose content is shown; undefined if the account shows none. Earlier contents are about
 * to be deleted: they are too old, or from before the account last enabled storage.
 */
function firstShown({ keptDays, since }: Storage, now: Date): string | undefined {
  if (keptDays === null) return undefined
  const oldest = now.getTime() - keptDays * dayMilliseconds
  return firstIdAt('msg', new Date(Math.max(oldest, since?.getTime() ?? 0)))
}

/** Returns the first message ID whose content the account shows; undefined if it shows none. */
export async function findFirstShown(db: Kysely<Database>, accountId: string, now: Date): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select(['contents_kept_days as keptDays', 'contents_since as since'])
    .where('id', '=', accountId)
    .executeTakeFirst()
  return row && firstShown(row, now)
}

export async function findContent(
  db: Kysely<Database>,
  { accountId, messageId }: { accountId: string; messageId: string },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('message_contents')
    .select('content_encrypted as ciphertext')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .executeTakeFirst()
  return row?.ciphertext
}

export async function findOldestContents(db: Kysely<Database>): Promise<ContentRow[]> {
  const { rows } = await sql<ContentRow>`
    select c.account_id as "accountId", c.message_id as "messageId", c.content_encrypted as ciphertext
    from accounts a cross join lateral (
      select * from message_contents where account_id = a.id order by message_id limit 1
    ) c
    order by a.id`.execute(db)
  return rows
}

const pageRows = 500

/** Yields contents a page at a time, in the order of the primary key; those of all accounts unless one is given. */
export async function* readContents(
  db: Kysely<Database>,
  { accountId, from = '' }: { accountId?: string | undefined; from?: string } = {},
): AsyncGenerator<ContentRow[], void, void> {
  for (let after: [string, string] = [accountId ?? '', from]; ;) {
    const ofAccount = accountId === undefined ? sql`` : sql`and account_id = ${accountId}`
    const { rows } = await sql<ContentRow>`
      select account_id as "accountId", message_id as "messageId", content_encrypted as ciphertext
      from message_contents
      where (account_id, message_id) > (${after[0]}, ${after[1]}) ${ofAccount}
      order by account_id, message_id limit ${sql.lit(pageRows)}`.execute(db)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < pageRows) return
    after = [last.accountId, last.messageId]
  }
}

/** Replaces ciphertexts, unless their rows changed since they were read. Returns how many were replaced. */
export async function replaceContents(
  db: Kysely<Database>,
  changes: readonly (ContentRow & { renewed: string })[],
): Promise<number> {
  if (changes.length === 0) return 0
  const list = (field: keyof (typeof changes)[number]) => changes.map((change) => change[field])
  const { numAffectedRows } = await retryLocked(() =>
    sql`
      update message_contents c set content_encrypted = changed.renewed
      from unnest(${list('accountId')}::text[], ${list('messageId')}::text[], ${list('ciphertext')}::text[], ${list('renewed')}::text[])
        as changed (account_id, message_id, ciphertext, renewed)
      where c.account_id = changed.account_id and c.message_id = changed.message_id
        and c.content_encrypted = changed.ciphertext`.execute(db),
  )
  return Number(numAffectedRows ?? 0)
}

export async function deleteContents(
  db: Kysely<Database>,
  accountId: string,
  messageIds: readonly string[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from message_contents where account_id = ${accountId} and message_id = any(${messageIds}::text[])`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0)
}

/** Maximum number of rows per statement, so that none runs long. */
const defaultBatchSize = 5_000

/**
 * Deletes the contents that are no longer shown, and returns how many. Covers all accounts unless one is given, each
 * with its own retention.
 */
export async function deleteOldContents(
  db: Kysely<Database>,
  now: Date,
  accountId?: string,
  batchSize: number = defaultBatchSize,
): Promise<number> {
  const { rows } = await sql<Storage & { id: string }>`
    select a.id, a.contents_kept_days as "keptDays", a.contents_since as since from accounts a
    where ${accountId === undefined ? sql`true` : sql`a.id = ${accountId}`}
      and exists (select from message_contents c where c.account_id = a.id)`.execute(db)
  let deleted = 0
  for (const { id, ...storage } of rows) {
    const shown = firstShown(storage, now)
    const isOld = shown === undefined ? sql`true` : sql`message_id < ${shown}`
    for (let count = batchSize; count === batchSize; deleted += count) {
      const { numAffectedRows } = await sql`
        delete from message_contents where account_id = ${id} and message_id = any(array(
          select message_id from message_contents where account_id = ${id} and ${isOld} limit ${sql.lit(batchSize)}
        ))`.execute(db)
      count = Number(numAffectedRows ?? 0)
    }
  }
  return deleted
}

/** Returns the longest retention of any account, in days. Older partitions contain nothing that is shown. */
export async function findLongestStorage(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ days: number }>`
    select coalesce(max(contents_kept_days), 0) as days from accounts`.execute(db)
  return rows[0]?.days ?? 0
}
