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
  const named = `${namedBy(name)}${text}`
  return async (db, values) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(named, [...values]))
    return rows
  }
}

/**
 * The same for a look at many rows of a table that grows, planned each time with its values before it. A plan
 * made while the table was small reads all of it, and goes on doing so when it has become large.
 */
export function replanned<Row>(text: string): (db: Kysely<Database>, values: readonly unknown[]) => Promise<Row[]> {
  return async (db, values) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))
    return rows
  }
}

const mark = '/*waybill:'

function namedBy(name: string): string {
  return `${mark}${name}*/ `
}

/** The name that a statement goes by; undefined for one without. */
export function nameOf(text: string): string | undefined {
  return text.startsWith(mark) ? text.slice(mark.length, text.indexOf('*/')) : undefined
}
