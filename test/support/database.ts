import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { PGlite } from '@electric-sql/pglite'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { inject } from 'vitest'
import { openDatabase, openPGlite } from '../../src/platform/db/database.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import { run, withDatabase } from './postgres.ts'

/** A reusable database: emptying it takes a tenth of the half second of CPU time that opening a new one takes. */
interface Reusable {
  pglite: PGlite
  /** Tables that aren't empty after the migrations, with their rows. */
  seeds: { table: string; rows: string }[]
  schema: string
}

/** Databases of this worker, whose test files share their modules. */
const idle = new Map<string, Reusable[]>()

/** Returns a migrated database without data. When it is closed, the next caller gets it. */
async function borrowPGlite(template: string): Promise<PGlite> {
  const lent = idle.get(template)?.pop() ?? (await open(template))
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    if (await empty(lent)) idle.set(template, [...(idle.get(template) ?? []), lent])
    else await lent.pglite.close()
  }
  return new Proxy(lent.pglite, {
    get(pglite, key) {
      if (key === 'close') return close
      if (key === 'closed') return isClosed
      const value: unknown = Reflect.get(pglite, key)
      return typeof value === 'function' ? value.bind(pglite) : value
    },
  })
}

async function open(template: string): Promise<Reusable> {
  const pglite = await PGlite.create({ loadDataDir: new Blob([await readFile(template)]) })
  const seeds: Reusable['seeds'] = []
  for (const table of await listFullTables(pglite)) {
    const { rows } = await pglite.query<{ rows: string }>(`select json_agg(t)::text as rows from ${table} t`)
    seeds.push({ table, rows: rows[0]?.rows ?? '[]' })
  }
  return { pglite, seeds, schema: await describeSchema(pglite) }
}

/** Returns false if it is not reusable because a test changed its tables or left a transaction open. */
async function empty({ pglite, seeds, schema }: Reusable): Promise<boolean> {
  try {
    await pglite.exec('discard all')
    if ((await describeSchema(pglite)) !== schema) return false
    const full = await listFullTables(pglite)
    if (full.length > 0) await pglite.exec(`truncate ${full.join(', ')} restart identity cascade`)
    for (const { table, rows } of seeds)
      await pglite.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [rows])
    return true
  } catch {
    return false
  }
}

async function listFullTables(pglite: PGlite): Promise<string[]> {
  const { rows } = await pglite.query<{ name: string }>(`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      and relnamespace != 'pg_toast'::regnamespace and pg_relation_size(oid) > 0`)
  return rows.map(({ name }) => name)
}

/** Differs after a change of a table, a function or a setting, even if the change was reverted. */
async function describeSchema(pglite: PGlite): Promise<string> {
  const { rows } = await pglite.query<{ schema: string }>(`
    select md5(concat(
      (select string_agg(oid::text, ',' order by oid) from pg_class where relkind not in ('t') and relname !~ '^pg_toast'),
      (select string_agg(xmin::text, ',' order by oid) from pg_proc where oid >= 16384),
      (select string_agg(xmin::text, ',' order by attrelid, attnum) from pg_attribute where attrelid >= 16384),
      (select string_agg(xmin::text, ',' order by oid) from pg_constraint where oid >= 16384),
      (select string_agg(xmin::text, ',' order by oid) from pg_trigger where oid >= 16384),
      (select string_agg(xmin::text, ',' order by oid) from pg_namespace),
      (select string_agg(setconfig::text, ',') from pg_db_role_setting)
    )) as schema`)
  return rows[0]?.schema ?? ''
}

export interface TestDatabase {
  db: Kysely<Database>
  /** Present on PostgreSQL, for a second process or pool. */
  url?: string
  close: () => Promise<void>
}

/** Much longer than a statement takes or waits, because a busy machine must not cancel one. */
export const patientSeconds = { statementTimeoutSeconds: 60, lockTimeoutSeconds: 60, maxWaitSeconds: 60 }

/** The server of the vitest project, for a database of another kind than `openTestDatabase` creates. PostgreSQL only. */
export function adminUrl(): string {
  const source = inject('database')
  if (source.kind !== 'postgres') throw new Error('this test needs PostgreSQL')
  return source.adminUrl
}

/** Creates a migrated database for one test file, of the kind that the vitest project selects. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const source = inject('database')
  if (source.kind === 'pglite') {
    const db = openPGlite(await borrowPGlite(source.template), { maxWaitSeconds: 60 })
    return { db, close: () => db.destroy() }
  }
  const name = `waybill_test_${randomBytes(6).toString('hex')}`
  await run(source.adminUrl, `create database ${name} template ${source.template} ${source.strategy}`)
  const url = withDatabase(source.adminUrl, name)
  const db = openDatabase({ kind: 'postgres', url, ...patientSeconds }, pino({ level: 'silent' }))
  return {
    db,
    url,
    close: async () => {
      await db.destroy()
      await run(source.adminUrl, `drop database ${name} with (force)`)
    },
  }
}
