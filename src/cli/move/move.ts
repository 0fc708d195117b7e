import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import { type App, buildApp } from '../../app.ts'
import { startJournals } from '../../background/journals.ts'
import type { Config } from '../../platform/config.ts'
import type { DatabaseUrl } from '../../platform/database-url.ts'
import { openDatabase, withoutTimeout } from '../../platform/db/database.ts'
import { type MoveMarker, moveTable, readMoveMarker, removeMoveMarker, writeMoveMarker } from './marker.ts'
import { countBlocks, findLeafTables } from '../../platform/db/leaf-tables.ts'
import { listPendingMigrations, migrate } from '../../platform/db/migrate/migrate.ts'
import type { Database } from '../../platform/db/schema.ts'
import { createLogger } from '../../platform/log.ts'
import { oldestServerVersion, readServerVersion } from '../operator-store.ts'
import { listStoredSecrets } from '../stored-secrets.ts'
import { copyPartitions, copySequences, listMovedTables, type MovedTable, readContent } from './tables.ts'

export interface MoveResult {
  /** Host, port and database name. */
  target: string
  tables: { name: string; rows: number }[]
  /** Number of stored secrets, all of which the key of the data folder decrypts in the target. */
  secrets: number
  /** The key file; undefined if WAYBILL_SECRET_KEY is set. */
  secretKeyFile: string | undefined
}

export interface MoveRun {
  config: Config
  dataDir: string
  to: DatabaseUrl
  report: (progress: CopyProgress) => void
}

/** Host, port and database name, without user and password. */
function describeTarget(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Moves the embedded database of a data folder that this process has locked. */
export async function moveDatabase({ config, dataDir, to, report }: MoveRun): Promise<MoveResult> {
  const log = createLogger(config.logLevel === 'info' ? 'warn' : config.logLevel)
  const resumed = readMoveMarker(dataDir)
  const marker = resumed ?? newMarker(to.url)
  if (marker.target !== describeTarget(to.url))
    throw new ServiceError(
      'SETTING_REFUSED',
      `A move to ${marker.target} has begun. Continue it with that URL, or end it with waybill move --cancel.`,
    )
  await using resources = new AsyncDisposableStack()
  const app = buildApp(config, { log })
  resources.defer(() => app.close())
  const target = openDatabase({ ...config.postgres, kind: 'postgres', ...to }, log)
  resources.defer(() => target.destroy())
  const source = app.deps.db
  if (resumed) await rejectNewerSchema(source)
  else await prepareSource(app)
  await prepareTarget(target)
  if (marker.state === 'moving') await copyAll({ dataDir, source, target, marker, isNew: !resumed, report })
  const tables = await listContents(source)
  const secrets = await countSecrets(app, target)
  writeMoveMarker(dataDir, { ...marker, state: 'moved' })
  if ((await findMoveId(target)) === marker.moveId) await endMove(target)
  const secretKeyFile = config.secretKeys ? undefined : path.join(dataDir, 'secret.key')
  return { target: marker.target, tables, secrets, secretKeyFile }
}

function newMarker(url: string): MoveMarker {
  const startedAt = new Date().toISOString()
  return { moveId: randomUUID(), state: 'moving', target: describeTarget(url), startedAt }
}

/** Settles the sends and deliveries in the journals of dead processes, which refer to this database. */
async function prepareSource({ deps, config }: App): Promise<void> {
  await migrate(deps.db)
  await startJournals(deps, config, { sends: false, delivers: false }).stop()
}

/** A migration would change rows that are already copied. */
async function rejectNewerSchema(source: Kysely<Database>): Promise<void> {
  if ((await listPendingMigrations(source)).length > 0)
    throw new ServiceError(
      'SETTING_REFUSED',
      'The move began with an earlier version of Waybill. Continue it with that version, or run waybill move --cancel and begin again with an empty target.',
    )
}

async function prepareTarget(target: Kysely<Database>): Promise<void> {
  if ((await readServerVersion(target)) < oldestServerVersion)
    throw new ServiceError('SETTING_REFUSED', 'The target must be PostgreSQL 14 or newer.')
  const { rows: servers } = await sql`
    select from pg_stat_activity where datname = current_database() and application_name = 'waybill listen'`.execute(
    target,
  )
  if (servers.length > 0)
    throw new ServiceError('SETTING_REFUSED', 'A Waybill server uses the target database. Stop it first.')
  await migrate(target)
}

interface CopyRun {
  dataDir: string
  source: Kysely<Database>
  target: Kysely<Database>
  marker: MoveMarker
  isNew: boolean
  report: (progress: CopyProgress) => void
}

async function copyAll({ dataDir, source, target, marker, isNew, report }: CopyRun): Promise<void> {
  const { moveId } = marker
  const found = await findMoveId(target)
  if (found !== undefined && found !== moveId)
    throw new ServiceError(
      'SETTING_REFUSED',
      'The target database belongs to another unfinished move. Use an empty one.',
    )
  writeMoveMarker(dataDir, marker)
  try {
    if (found === undefined) await beginMove(target, moveId)
  } catch (error) {
    // Nothing was copied, so the embedded database can be used as before.
    if (isNew) removeMoveMarker(dataDir)
    throw error
  }
  await copyPartitions(source, target)
  for (const table of await listMovedTables(source)) await copyTable(source, target, table, report)
  await copySequences(source, target)
  await compare(source, target)
  await target.connection().execute((connection) => withoutTimeout(connection, () => sql`analyze`.execute(connection)))
}

async function compare(source: Kysely<Database>, target: Kysely<Database>): Promise<void> {
  const different: string[] = []
  for (const table of await listMovedTables(source)) {
    const [here, there] = [await readContent(source, table), await readContent(target, table)]
    if (here.rows !== there.rows || here.digest !== there.digest)
      different.push(`${table.name} (${here.rows} rows here, ${there.rows} there)`)
  }
  if (different.length > 0)
    throw new ServiceError(
      'SETTING_REFUSED',
      `The target differs from the embedded database in ${different.join(', ')}. Run waybill move --cancel, and begin again with an empty target.`,
    )
}

async function listContents(source: Kysely<Database>): Promise<MoveResult['tables']> {
  const tables = await listMovedTables(source)
  const counted: MoveResult['tables'] = []
  for (const table of tables) counted.push({ name: table.name, rows: (await readContent(source, table)).rows })
  return counted
}

/** Throws if the key does not decrypt a secret in the target. */
async function countSecrets({ deps: { secrets } }: App, target: Kysely<Database>): Promise<number> {
  const stored = await listStoredSecrets(target)
  for (const { ciphertext, purpose } of stored) secrets.decrypt(ciphertext, purpose)
  return stored.length
}

/** Maximum number of blocks of a page: about half a megabyte of rows. */
const maxPageBlocks = 64

interface CopyProgress {
  table: string
  rows: number
}

/**
 * Copies the rows of a table, page by page. Nothing writes to the source during a move, so rows keep their positions.
 * Each page is inserted in one transaction with the progress, so a repeated move continues after the last page.
 */
async function copyTable(
  source: Kysely<Database>,
  target: Kysely<Database>,
  table: MovedTable,
  report: (progress: CopyProgress) => void,
): Promise<void> {
  let rows = 0
  for (const { name: leaf } of await findLeafTables(source, table.name)) {
    const blocks = await countBlocks(source, leaf)
    const pageBlocks = await choosePageSize(source, leaf)
    for (let block = await readProgress(target, leaf); block < blocks; block += pageBlocks) {
      const page = await readPage(source, { leaf, columns: table.columns, from: block, until: block + pageBlocks })
      await target.transaction().execute(async (trx) => {
        if (page.rows > 0) rows += await insertPage(trx, table, page.json)
        await saveProgress(trx, leaf, block + pageBlocks)
      })
      report({ table: table.name, rows })
    }
  }
}

/** Pages of tables with long values have fewer blocks, because long values are stored outside the blocks of their rows. */
async function choosePageSize(source: Kysely<Database>, leaf: string): Promise<number> {
  const { rows } = await sql<{ ratio: number }>`
    select pg_table_size(${leaf}::regclass)::float8 / greatest(pg_relation_size(${leaf}::regclass), 1)::float8 as ratio`.execute(
    source,
  )
  return Math.max(1, Math.floor(maxPageBlocks / Math.max(1, rows[0]?.ratio ?? 1)))
}

/** Reads rows as JSON text, which preserves every type exactly and is never parsed here. */
async function readPage(
  source: Kysely<Database>,
  { leaf, columns, from, until }: { leaf: string; columns: readonly string[]; from: number; until: number },
): Promise<{ rows: number; json: string }> {
  const row = sql.join(columns.map((column) => sql.ref(column)))
  const { rows } = await sql<{ rows: number; json: string }>`
    select count(*)::integer as rows, coalesce(json_agg(page)::text, '[]') as json
    from (
      select ${row} from ${sql.table(leaf)}
      where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${until},0)`}::tid
    ) page`.execute(source)
  return rows[0] ?? { rows: 0, json: '[]' }
}

async function insertPage(trx: Kysely<Database>, { name, columns }: MovedTable, json: string): Promise<number> {
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const { numAffectedRows } = await sql`
    insert into ${sql.table(name)} (${list})
    select ${list} from json_populate_recordset(null::${sql.table(name)}, ${json}::json)`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

/** Tables with rows that a migration, or a server that was started on it, inserts into an empty database. */
const singletons = new Set([
  'overdue_progress',
  'database_clock',
  'message_counts_start',
  'server_processes',
  'background_jobs',
])

/** Returns the ID of the unfinished move into this database; undefined if there is none. */
async function findMoveId(target: Kysely<Database>): Promise<string | undefined> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass(${moveTable}) is not null as exists`.execute(target)
  if (!tables[0]?.exists) return undefined
  const { rows } = await sql<{ id: string }>`select distinct move_id as id from ${sql.table(moveTable)}`.execute(target)
  return rows[0]?.id
}

/**
 * Begins a move in a migrated database without data. The tables are locked while they are checked and emptied, so that
 * nothing else fills them in between.
 */
async function beginMove(target: Kysely<Database>, moveId: string): Promise<void> {
  const tables = await listMovedTables(target)
  await target.transaction().execute(async (trx) => {
    for (const { name } of tables) await sql`lock table ${sql.table(name)} in access exclusive mode`.execute(trx)
    const nonEmpty = await findTablesWithRows(trx, tables)
    if (nonEmpty.length > 0)
      throw new ServiceError(
        'SETTING_REFUSED',
        `The target database already holds data (in ${nonEmpty.join(', ')}). Create an empty database, and name it with --to.`,
      )
    await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(trx)
    await sql`create table ${sql.table(moveTable)} (
      leaf text primary key, move_id text not null, next_block bigint not null
    )`.execute(trx)
    // The row with an empty name holds the ID of the move.
    await sql`insert into ${sql.table(moveTable)} values ('', ${moveId}, 0)`.execute(trx)
  })
}

async function findTablesWithRows(trx: Kysely<Database>, tables: readonly MovedTable[]): Promise<string[]> {
  const found: string[] = []
  for (const { name } of tables.filter((table) => !singletons.has(table.name))) {
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(trx)
    if (rows.length > 0) found.push(name)
  }
  return found
}

/** Returns the first block of a partition that was not copied yet. */
async function readProgress(target: Kysely<Database>, leaf: string): Promise<number> {
  const { rows } = await sql<{ next: number }>`
    select next_block::float8 as next from ${sql.table(moveTable)} where leaf = ${leaf}`.execute(target)
  return rows[0]?.next ?? 0
}

async function saveProgress(trx: Kysely<Database>, leaf: string, nextBlock: number): Promise<void> {
  await sql`
    insert into ${sql.table(moveTable)} (leaf, move_id, next_block)
    select ${leaf}, move_id, ${nextBlock} from ${sql.table(moveTable)} where leaf = ''
    on conflict (leaf) do update set next_block = excluded.next_block`.execute(trx)
}

/** Lets servers use the target. */
async function endMove(target: Kysely<Database>): Promise<void> {
  await sql`drop table if exists ${sql.table(moveTable)}`.execute(target)
}
