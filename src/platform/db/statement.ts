import { CompiledQuery, type Kysely } from 'kysely'
import type { Database } from './schema.ts'

/**
 * A statement of the hot path, written out once: nothing is compiled when it runs, and PostgreSQL plans
 * it once a connection, under its name (planning an unnamed statement costs two to three times its
 * execution). `text` uses `$1`, `$2`, …
 */
export function statement<Row>(
  name: string,
  text: string,
): (db: Kysely<Database>, values: readonly unknown[]) => Promise<Row[]> {
  // PostgreSQL shows the comment to operators (pg_stat_activity, its log).
  const commented = `/* ${name} */ ${text}`
  names.set(commented, name)
  return async (db, values) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(commented, [...values]))
    return rows
  }
}

const names = new Map<string, string>()

/** The name under which a connection prepares this text; undefined for a text that no `statement` has. */
export function nameOf(text: string): string | undefined {
  return names.get(text)
}

/**
 * The same for a look at many rows of a table that grows, planned each time with its values before it. A plan
 * made while the table was small reads all of it, and goes on doing so when it has become large.
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
 * An array as PostgreSQL writes it (its manual, 8.15.6), of our own ids, words, numbers and times (to the year 9999):
 * nothing in them needs quotes, and none is empty. `pg` would put each into quotes, having looked for what to escape,
 * which takes as long as the rest of a statement's way there. What somebody else has written is given to `pg` as a list.
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
