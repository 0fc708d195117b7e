import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { TestProject } from 'vitest/node'
import { openPGlite } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** How a test file gets its own migrated database. */
    database:
      | { kind: 'pglite'; template: string }
      | { kind: 'postgres'; adminUrl: string; template: string; strategy: string }
  }
}

/** Migrates one PGlite database and keeps its files as a template, since loading them is much faster than `initdb`. */
export default async function setUpPGlite(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-pglite-'))
  const template = path.join(folder, 'template.tar')
  const pglite = await PGlite.create()
  const db = openPGlite(pglite)
  await migrate(db)
  const dump = await pglite.dumpDataDir('none')
  await writeFile(template, Buffer.from(await dump.arrayBuffer()))
  await db.destroy()
  project.provide('database', { kind: 'pglite', template })
  return () => rm(folder, { recursive: true, force: true })
}
