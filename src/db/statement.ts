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

const mark = '/*waybill:'

function namedBy(name: string): string {
  return `${mark}${name}*/ `
}

/** The name that a statement goes by; undefined for one without. */
export function nameOf(text: string): string | undefined {
  return text.startsWith(mark) ? text.slice(mark.length, text.indexOf('*/')) : undefined
}
