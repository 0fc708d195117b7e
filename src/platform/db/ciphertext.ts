import { type Kysely, sql } from 'kysely'
import type { Database } from './schema.ts'

/**
 * Replaces a ciphertext with the same secret, encrypted with another key. Returns whether it was still `from`, so that a
 * concurrent change is not overwritten.
 */
export async function replaceCiphertext<Table extends keyof Database>(
  db: Kysely<Database>,
  { table, column, key }: CiphertextPlace<Table>,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const isRow = Object.entries(key).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${to}
    where ${sql.join(isRow, sql` and `)} and ${sql.ref(column)} = ${from}`.execute(db)
  return numAffectedRows === 1n
}

interface CiphertextPlace<Table extends keyof Database> {
  table: Table
  column: keyof Database[Table] & string
  /** The primary key of the row, which is unique across accounts. */
  key: Partial<Record<keyof Database[Table], string | boolean>>
}
