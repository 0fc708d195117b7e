import { type Kysely, type Selection, sql } from 'kysely'
import { columnsOf, toRow } from '../../platform/db/names.ts'
import type { AuditOutcome, Database } from '../../platform/db/schema.ts'

const entryColumns = columnsOf(
  'account_id sequence start_sequence id outcome who what fact address created_at hash_version key_id hash mac',
)

const chainColumns = columnsOf('account_id sequence hash expired_sequence expired_hash key_id mac')

export type AuditEntryRow = Selection<Database, 'audit_entries', (typeof entryColumns)[number]>
export type AuditChainRow = Selection<Database, 'audit_chains', (typeof chainColumns)[number]>

export interface AuditKeyRow {
  id: string
  keyEncrypted: string
}

/** Newest first. The keys belong to the server, not to an account. */
export function findAuditKeys(db: Kysely<Database>): Promise<AuditKeyRow[]> {
  return db
    .selectFrom('audit_keys')
    .select(['id', 'key_encrypted as keyEncrypted'])
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

export async function insertAuditKey(db: Kysely<Database>, { id, keyEncrypted }: AuditKeyRow): Promise<void> {
  await db.insertInto('audit_keys').values({ id, key_encrypted: keyEncrypted }).execute()
}

/** Prevents others from creating the first key until the end of the transaction. Readers do not wait. */
export async function lockAuditKeys(trx: Kysely<Database>): Promise<void> {
  await sql`lock table audit_keys in exclusive mode`.execute(trx)
}

/** Returns the next entries of all accounts after `after`, ordered by account and age. */
export function findUnchainedEntries(
  db: Kysely<Database>,
  { after, limit }: { after: { accountId: string; id: string } | undefined; limit: number },
): Promise<(Pick<AuditEntryRow, 'accountId' | 'id' | 'who' | 'what' | 'address' | 'outcome'> & { at: Date })[]> {
  const page = db
    .selectFrom('audit_log_unchained')
    .select(['account_id as accountId', 'id', 'who', 'what', 'address', 'outcome', 'created_at as at'])
    .orderBy('account_id')
    .orderBy('id')
    .limit(limit)
  if (!after) return page.execute()
  return page.where(sql<boolean>`(account_id, id) > (${after.accountId}, ${after.id})`).execute()
}

/** Deletes the entries of all accounts. */
export async function deleteUnchainedEntries(db: Kysely<Database>): Promise<void> {
  await db.deleteFrom('audit_log_unchained').execute()
}

export function findAuditChain(db: Kysely<Database>, accountId: string): Promise<AuditChainRow | undefined> {
  return db.selectFrom('audit_chains').select(chainColumns).where('account_id', '=', accountId).executeTakeFirst()
}

export function lockAuditChain(trx: Kysely<Database>, accountId: string): Promise<AuditChainRow | undefined> {
  return trx
    .selectFrom('audit_chains')
    .select(chainColumns)
    .where('account_id', '=', accountId)
    .forUpdate()
    .executeTakeFirst()
}

/** An existing chain is not overwritten. */
export async function insertAuditChain(trx: Kysely<Database>, head: AuditChainRow): Promise<void> {
  await trx
    .insertInto('audit_chains')
    .values(toRow(head))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function updateAuditChain(trx: Kysely<Database>, head: AuditChainRow): Promise<void> {
  await trx.updateTable('audit_chains').set(toRow(head)).where('account_id', '=', head.accountId).execute()
}

/** Returns the highest sequence number of the account's entries, regardless of the head; 0 if there are none. */
export async function findLastSequence(db: Kysely<Database>, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('audit_entries')
    .select('sequence')
    .where('account_id', '=', accountId)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.sequence ?? 0
}

export async function insertAuditEntries(db: Kysely<Database>, entries: AuditEntryRow[]): Promise<void> {
  await db.insertInto('audit_entries').values(entries.map(toRow)).execute()
}

/** Returns entries in the order of the chain, after `after`. */
export function findAuditEntries(
  db: Kysely<Database>,
  accountId: string,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<AuditEntryRow[]> {
  const entries = db.selectFrom('audit_entries').select(entryColumns).where('account_id', '=', accountId)
  const page = after === undefined ? entries : entries.where('sequence', '>', after)
  return page.orderBy('sequence').limit(limit).execute()
}

export type AuditActionRow = Pick<
  AuditEntryRow,
  'sequence' | 'id' | 'outcome' | 'who' | 'what' | 'fact' | 'address' | 'createdAt'
>

/** Undefined: all. */
interface AuditFilter {
  search?: string | undefined
  who?: string | undefined
  from?: Date | undefined
  /** Exclusive. */
  until?: Date | undefined
}

/** Returns a row per action, with its outcome if known, newest first, starting before `before`. */
export function findAuditActions(
  db: Kysely<Database>,
  accountId: string,
  { before, search, who, from, until, limit }: AuditFilter & { before: number | undefined; limit: number },
): Promise<AuditActionRow[]> {
  const starts = db
    .selectFrom('audit_entries as start')
    .select(['sequence', 'id', 'who', 'what', 'fact', 'address', 'created_at as createdAt'])
    .select((eb) =>
      eb.fn
        .coalesce(
          eb
            .selectFrom('audit_entries as end')
            .select('end.outcome')
            .whereRef('end.account_id', '=', 'start.account_id')
            .whereRef('end.start_sequence', '=', 'start.sequence')
            .orderBy('end.sequence')
            .limit(1),
          'start.outcome',
        )
        .$castTo<AuditOutcome>()
        .as('outcome'),
    )
    .where('account_id', '=', accountId)
    .where('start_sequence', 'is', null)
    .$if(who !== undefined, (qb) => qb.where('who', '=', who ?? ''))
    .$if(from !== undefined, (qb) => qb.where('created_at', '>=', from ?? new Date(0)))
    .$if(until !== undefined, (qb) => qb.where('created_at', '<', until ?? new Date(0)))
  const found = search === undefined ? starts : starts.where(contains(search))
  const page = before === undefined ? found : found.where('sequence', '<', before)
  return page.orderBy('sequence', 'desc').limit(limit).execute()
}

/** In upper or lower case. An account has few entries, so they need no index for this. */
function contains(search: string) {
  const pattern = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return sql<boolean>`(who ilike ${pattern} or what ilike ${pattern} or address ilike ${pattern})`
}

/** Returns the next account after `after` that has, or could have, an audit log. */
export async function findNextAuditedAccount(db: Kysely<Database>, after: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string | null }>`
    select min(id) as id from (
      select min(account_id) as id from audit_chains where account_id > ${after}
      union all select min(account_id) from audit_entries where account_id > ${after}
      union all select min(id) from accounts where id > ${after}
    ) candidates`.execute(db)
  return rows[0]?.id ?? undefined
}

/** Reads all accounts: returns those with an entry before that time. */
export async function findAccountsWithEntriesBefore(db: Kysely<Database>, before: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('audit_entries')
    .select('account_id as accountId')
    .distinct()
    .where('created_at', '<', before)
    .orderBy('account_id')
    .execute()
  return rows.map((row) => row.accountId)
}

/** Returns the number of the oldest entry since that time; undefined if all entries are older. */
export async function findFirstSequenceSince(
  db: Kysely<Database>,
  accountId: string,
  since: Date,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('audit_entries')
    .select('sequence')
    .where('account_id', '=', accountId)
    .where('created_at', '>=', since)
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst()
  return row?.sequence
}

export async function deleteAuditEntriesUpTo(db: Kysely<Database>, accountId: string, sequence: number): Promise<void> {
  await db.deleteFrom('audit_entries').where('account_id', '=', accountId).where('sequence', '<=', sequence).execute()
}
