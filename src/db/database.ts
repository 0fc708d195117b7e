import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { DatabaseConfig } from '../config.ts'
import type { Logger } from '../telemetry.ts'
import { PreparedClient } from './prepared-client.ts'
import type { Database } from './schema.ts'

/** A caller waits this long for a connection before the answer is SERVICE_UNAVAILABLE. */
const connectTimeoutMilliseconds = 2_000
/** No statement of ours takes a second; one that takes ten waits for a server that is gone. */
const statementTimeoutMilliseconds = 10_000
const poolSize = 16

/** Opens PostgreSQL or, in a folder of ours, PGlite: the same SQL runs on both. */
export function openDatabase(config: DatabaseConfig, log: Logger): Kysely<Database> {
  return config.kind === 'postgres' ? openPostgres(config.url, log) : openPGlite(`${config.dataDir}/pgdata`)
}

function openPostgres(url: string, log: Logger): Kysely<Database> {
  const pool = new pg.Pool({
    Client: PreparedClient,
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    query_timeout: statementTimeoutMilliseconds,
    keepAlive: true,
    application_name: 'waybill',
  })
  // An idle connection that dies is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  // One that dies at work fails its query, which is heard of there; it too would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}

/** Durability stays PostgreSQL's own: what was answered has been flushed (`relaxedDurability` is off). */
export function openPGlite(pglite: string | PGlite): Kysely<Database> {
  return new Kysely<Database>({
    dialect: new PGliteDialect({ pglite: typeof pglite === 'string' ? () => PGlite.create(pglite) : pglite }),
  })
}
