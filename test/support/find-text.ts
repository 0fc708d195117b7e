import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'

/** Finds the files below a folder that contain a text, as paths relative to the folder. */
export async function findFilesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    if ((await readIfExists(file)).includes(text)) found.push(path.relative(folder, file))
  }
  return found
}

/** A database that runs replaces and deletes files between the listing and the reading. */
async function readIfExists(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return Buffer.alloc(0)
  })
}

/** Every table whose rows contain the text, as text, in JSON or in bytes. */
export async function findTablesWith(db: Kysely<Database>, text: string): Promise<string[]> {
  const forms = [text, Buffer.from(text).toString('hex')].map((form) => `%${form}%`)
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'`.execute(db)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql`
      select from ${sql.table(name)} t where to_jsonb(t)::text like any (${forms}::text[]) limit 1`.execute(db)
    if (rows.length > 0) found.push(name.replace(/_(\d{8}|rest)$/, ''))
  }
  return found
}
