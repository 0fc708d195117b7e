import { CompiledQuery, type Kysely } from 'kysely'
import type { Database } from './schema.ts'

/**
 * A statement of the hot path with a fixed text: nothing is compiled at run time, and PostgreSQL plans it once per
 * connection, under its name. (Planning an unnamed statement takes two to three times as long as executing it.) `text`
 * uses `$1`, `$2`, …
 */
export function statement<Row>(
  name: string,
  text: string,
): (db: Kysely<Database>, values: readonly unknown[]) => Promise<Row[]> {
  // PostgreSQL shows the comment to operators, in pg_stat_activity and in its log.
  const commented = `/* ${name} */ ${text}`
  names.set(commented, name)
  return async (db, values) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(commented, [...values]))
    return rows
  }
}

const names = new Map<string, string>()

/** Returns the name under which a connection prepares this text; undefined if it belongs to no `statement`. */
export function nameOf(text: string): string | undefined {
  return names.get(text)
}

/**
 * A statement that scans many rows of a growing table and is planned for its values each time. A cached plan that was
 * made for a small table would still read the whole table after it has grown.
 */
export function unnamedStatement<Row>(
  text: string,
): (db: Kysely<Database>, values: readonly unknown[]) => Promise<Row[]> {
  return async (db, values) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))
    return rows
  }
}

/**
 * Writes an array in PostgreSQL's text format (manual, 8.15.6). Use it only for our own IDs, keywords, numbers and
 * times (up to the year 9999): they are never empty and need no quotes. `pg` would check and quote each element, which
 * takes as long as the rest of sending a statement. Pass values from outside to `pg` as a list instead.
 */
export function arrayOf<Item>(
  items: readonly Item[],
  value: (item: Item) => string | number | Date | null | undefined,
): string {
  let text = '{'
  for (const item of items) text += text.length === 1 ? toElement(value(item)) : `,${toElement(value(item))}`
  return `${text}}`
}

function toElement(value: string | number | Date | null | undefined): string | number {
  return typeof value === 'string' ? value : value instanceof Date ? value.toISOString() : (value ?? 'null')
}
