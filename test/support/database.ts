import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { inject } from 'vitest'
import { openDatabase, openPGlite } from '../../src/platform/db/database.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import { run, withDatabase } from './postgres.ts'
import { borrowPGlite } from './reused-pglite.ts'

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
