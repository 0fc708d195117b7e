import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { TestProject } from 'vitest/node'
import { openPGlite } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** How a test file obtains its own migrated database. */
    database:
      | { kind: 'pglite'; template: string }
      | { kind: 'postgres'; adminUrl: string; template: string; strategy: string }
  }
}

/** Migrates one PGlite database and keeps its data folder as a template: copying it is much faster than `initdb`. */
export default async function setUpPGlite(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-pglite-'))
  const db = openPGlite(await PGlite.create({ dataDir: folder }))
  await migrate(db)
  await db.destroy()
  project.provide('database', { kind: 'pglite', template: folder })
  return () => rm(folder, { recursive: true, force: true })
}
