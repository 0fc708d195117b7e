import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import { type App, buildApp } from '../../app.ts'
import { startJournals } from '../../http/ops/journal.ts'
import type { Config } from '../../platform/config.ts'
import type { DatabaseUrl } from '../../platform/database-url.ts'
import { openDatabase, withoutTimeout } from '../../platform/db/database.ts'
import { listPendingMigrations, migrate } from '../../platform/db/migrate/migrate.ts'
import type { Database } from '../../platform/db/schema.ts'
import { createLogger } from '../../platform/log.ts'
import { listStoredSecrets } from '../rekey-all.ts'
import { oldestServerVersion, readServerVersion } from '../operator-store.ts'
import { type CopyProgress, copyTable } from './copy.ts'
import { type MoveMarker, readMoveMarker, removeMoveMarker, writeMoveMarker } from './marker.ts'
import { copyPartitions, copySequences, listMovedTables, readContent } from './tables.ts'
import { beginMove, endMove, findMoveId } from './target.ts'

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
