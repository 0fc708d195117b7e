import { type Kysely, type RawBuilder, sql } from 'kysely'
import { markSuspended } from '../../accounts/store.ts'
import { deleteByBlock } from '../../platform/db/delete-by-block.ts'
import { blockRanges, findLeafTables, type LeafTable } from '../../platform/db/leaf-tables.ts'
import { awaitRunningWrites, retryLocked } from '../../platform/db/locks.ts'
import type { Database } from '../../platform/db/schema.ts'
import { deleteUserWithoutRole } from '../../users/store.ts'

/** Number of rows that were deleted, by table. */
export type RemovedRows = Record<string, number>

/** The audit log proves who changed what, so it is kept until its entries expire. */
const auditTables = ['audit_entries', 'audit_chains']
const rowsPerStatement = 5_000
const maxPasses = 5

/**
 * Returns whether data of the account is stored, apart from its audit log, such as after an interrupted removal. Tables
 * without an index by account come last, because they are read as a whole, in short statements.
 */
export async function hasData(db: Kysely<Database>, accountId: string): Promise<boolean> {
  const isOwn = sql`account_id = ${accountId}`
  const unindexed: LeafTable[] = []
  for (const table of await listAccountTables(db))
    for (const leaf of await findLeafTables(db, table)) {
      if (!startsWithAccount(leaf)) unindexed.push(leaf)
      else if (await hasRow(db, leaf, isOwn)) return true
    }
  for (const leaf of unindexed)
    for await (const range of blockRanges(db, leaf.name))
      if (await hasRow(db, leaf, sql`${range} and ${isOwn}`)) return true
  return false
}

async function hasRow(db: Kysely<Database>, { name }: LeafTable, condition: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(name)} where ${condition} limit 1`.execute(db)
  return rows.length > 0
}

function startsWithAccount({ key }: LeafTable): boolean {
  return key[0] === 'account_id'
}

/**
 * Removes an account and all its data. Its API key, numbers, endpoints and members go first, in one transaction: from
 * then on every process rejects its requests. The rest follows in short statements. The row of the account goes last,
 * because it would take all rows that refer to it along, in one statement.
 */
export async function removeAccount(
  db: Kysely<Database>,
  accountId: string,
  report: (progress: string) => void = () => {},
): Promise<RemovedRows> {
  await retryLocked(() => db.transaction().execute((trx) => revokeAccess(trx, accountId)))
  const removed: RemovedRows = {}
  const tables = await listAccountTables(db)
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    let found = 0
    for (const table of tables) {
      const rows = await deleteRows(db, table, accountId, report)
      found += rows
      if (rows > 0) removed[table] = (removed[table] ?? 0) + rows
    }
    // A request in progress may still have recorded something.
    const settled = await awaitRunningWrites(db)
    if (found === 0 && settled) break
  }
  await retryLocked(() => db.deleteFrom('accounts').where('id', '=', accountId).execute())
  return removed
}

export async function removeAuditLog(db: Kysely<Database>, accountId: string): Promise<void> {
  for (const table of auditTables) await deleteRows(db, table, accountId, () => {})
}

const accessTables = [
  'api_keys',
  'whatsapp_accounts',
  'webhook_endpoints',
  'owner_roles',
  'owner_invitations',
  'operator_views',
  // Otherwise, each deleted file would update the same row.
  'media_usage',
] as const

/** A member who has no other account is deleted too. */
async function revokeAccess(trx: Kysely<Database>, accountId: string): Promise<void> {
  const members = await trx
    .selectFrom('owner_roles')
    .select('owner_id as userId')
    .where('account_id', '=', accountId)
    .forUpdate()
    .execute()
  await markSuspended(trx, accountId)
  for (const table of accessTables) await trx.deleteFrom(table).where('account_id', '=', accountId).execute()
  for (const { userId } of members) await deleteUserWithoutRole(trx, userId)
}

/** Lists every table with an account ID, including those that a later version added. */
async function listAccountTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`.execute(db)
  return rows.map(({ name }) => name).filter((name) => !auditTables.includes(name))
}

async function deleteRows(
  db: Kysely<Database>,
  table: string,
  accountId: string,
  report: (progress: string) => void,
): Promise<number> {
  let deleted = 0
  for (const leaf of await findLeafTables(db, table))
    for await (const rows of deleteLeafRows(db, leaf, accountId)) {
      deleted += rows
      if (rows > 0) report(`${table}: ${deleted} rows deleted`)
    }
  return deleted
}

function deleteLeafRows(db: Kysely<Database>, leaf: LeafTable, accountId: string): AsyncGenerator<number> {
  if (leaf.name === 'media') return deleteMedia(db, accountId)
  if (startsWithAccount(leaf)) return deleteByKey(db, leaf, accountId)
  return deleteByBlock(db, leaf.name, sql`account_id = ${accountId}`)
}

/** Notes the files for deletion from the media store, as the trigger of the table does for an account without a row. */
async function* deleteMedia(db: Kysely<Database>, accountId: string): AsyncGenerator<number> {
  for await (const range of blockRanges(db, 'media')) {
    const { numAffectedRows } = await retryLocked(() =>
      sql`
        with removed as (delete from media where ${range} and account_id = ${accountId} returning id)
        insert into removed_media (id) select id from removed on conflict do nothing`.execute(db),
    )
    yield Number(numAffectedRows ?? 0)
  }
}

async function* deleteByKey(db: Kysely<Database>, { name }: LeafTable, accountId: string): AsyncGenerator<number> {
  const table = sql.table(name)
  for (;;) {
    const { numAffectedRows } = await retryLocked(() =>
      sql`
        delete from ${table} where ctid = any(array(
          select ctid from ${table} where account_id = ${accountId} limit ${sql.lit(rowsPerStatement)}
        ))`.execute(db),
    )
    yield Number(numAffectedRows ?? 0)
    if (Number(numAffectedRows ?? 0) < rowsPerStatement) return
  }
}
