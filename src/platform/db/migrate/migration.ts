import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** A change in one transaction. Its locks block the version before, so it must be short: no rewrite, no scan. */
interface TransactionalMigration {
  up: (trx: Kysely<unknown>) => Promise<void>
}

/**
 * Work that takes long: filling a column, building an index, validating a constraint (`online.ts`). It runs outside a
 * transaction and is repeated after a failure, so it must continue where it stopped.
 */
interface OnlineMigration {
  run: (db: Kysely<Database>, onProgress: (rows: number) => void) => Promise<void>
}

export type Migration = TransactionalMigration | OnlineMigration

/** By name; the names sort in the order of application. */
export type Migrations = Readonly<Record<string, Migration>>

/** What the runner is doing, for an operator who waits for it. */
export type MigrationProgress =
  | { state: 'waiting for another process' }
  | { state: 'applying' | 'applied'; migration: string }
  | { state: 'waiting for a lock'; migration: string; attempt: number }
  | { state: 'filling'; migration: string; rows: number }

export function describeProgress(progress: MigrationProgress): string {
  switch (progress.state) {
    case 'waiting for another process':
      return 'Another process is migrating the database. Waiting for it.'
    case 'applying':
      return `Applying ${progress.migration}.`
    case 'waiting for a lock':
      return `${progress.migration}: a table is locked. Trying again (attempt ${progress.attempt}).`
    case 'filling':
      return `${progress.migration}: ${progress.rows} rows.`
    case 'applied':
      return `Applied ${progress.migration}.`
  }
}
