import { type Kysely, sql } from 'kysely'
import packageJson from '../../../../package.json' with { type: 'json' }
import { ServiceError } from '../../../../contracts/errors.ts'
import type { Database } from '../schema.ts'

/** A migration that the database has recorded. */
export interface AppliedMigration {
  name: string
  /** The version of Waybill that applied it; null for versions that did not record it. */
  version: string | null
}

/** The first migration, which creates the schema of commit 12e9a9b4. */
export const baselineName = '0032-baseline'
/** The last migration of commit 12e9a9b4, which built the same schema in 32 steps. */
const lastBeforeBaseline = '0032-status-alerts'

/**
 * Returns the names of the migrations that the database lacks. Throws if it belongs to a version of which this one knows
 * no way on.
 */
export function findPending(applied: readonly AppliedMigration[], known: readonly string[]): string[] {
  if (applied.length === 0) return known.toSorted()
  const names = new Set(applied.map(({ name }) => name))
  if (!names.has(baselineName) && !names.has(lastBeforeBaseline)) throw new ServiceError('SETTING_REFUSED', tooOld)
  const newer = applied.filter(({ name }) => name > lastBeforeBaseline && !known.includes(name))
  if (newer.length > 0) throw new ServiceError('SETTING_REFUSED', describeNewer(newer))
  return known.filter((name) => name !== baselineName && !names.has(name)).toSorted()
}

const tooOld =
  'The database belongs to a version of Waybill before commit 12e9a9b4: check out that commit, run `npm ci` and `npm run waybill -- migrate` in it, and then start this version again.'

function describeNewer(newer: readonly AppliedMigration[]): string {
  const last = newer.toSorted((a, b) => (a.name < b.name ? -1 : 1)).at(-1)
  const version = last?.version ? `Waybill ${last.version} or newer` : 'the version of Waybill that added it'
  return `The database has the migration ${last?.name}, which this version does not know: install ${version}, or restore a backup from before the upgrade.`
}

/** Reads the migrations that the database has recorded; none if it is empty. */
export async function readApplied(db: Kysely<Database>): Promise<AppliedMigration[]> {
  const { rows: tables } = await sql<{ exists: boolean; hasVersion: boolean }>`
    select to_regclass('waybill_migrations') is not null as exists, exists (
      select from pg_attribute where attrelid = to_regclass('waybill_migrations') and attname = 'version'
    ) as "hasVersion"`.execute(db)
  const [table] = tables
  if (!table?.exists) return []
  const { rows } = await sql<AppliedMigration>`
    select name, ${table.hasVersion ? sql`version` : sql`null`} as version from waybill_migrations order by name`.execute(
    db,
  )
  return rows
}

/** Prepares the table of applied migrations, which Kysely created in databases of earlier versions. */
export async function prepareAppliedTable(db: Kysely<Database>): Promise<void> {
  await sql`
    create table if not exists waybill_migrations (
      name varchar(255) primary key,
      timestamp varchar(255) not null,
      version text
    )`.execute(db)
  await sql`alter table waybill_migrations add column if not exists version text`.execute(db)
}

export async function recordApplied(trx: Kysely<Database>, name: string): Promise<void> {
  await sql`
    insert into waybill_migrations (name, timestamp, version)
    values (${name}, ${new Date().toISOString()}, ${packageJson.version})`.execute(trx)
}
