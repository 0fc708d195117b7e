import { type Kysely, sql } from 'kysely'
import { vi } from 'vitest'
import type { Database } from '../../src/platform/db/schema.ts'
import { makeClockSettable } from '../support/settable-clock.ts'

/** A clock for this process and its database that stands still until it is set. */
export interface StoppedClock {
  /** Stops the clock of a database too. */
  attach(db: Kysely<Database>): Promise<void>
  moveTo(time: Date): Promise<void>
  restore(): void
}

/**
 * Stops the clock, so that the same data has the same times in every run. Timers keep running. The embedded database must
 * be started afterwards: the deadlines of its statements would be far away if its time went backwards.
 */
export function stopClock(time: Date): StoppedClock {
  vi.useFakeTimers({ toFake: ['Date'], now: time })
  let database: Kysely<Database> | undefined
  return {
    attach: async (db) => {
      await makeClockSettable(db)
      for (const name of ['now', 'clock_timestamp', 'statement_timestamp'])
        await sql
          .raw(
            `create or replace function public.${name}() returns timestamptz language sql stable
              as 'select to_timestamp(seconds) from public.clock_shift'`,
          )
          .execute(db)
      await setDatabaseTime(db, new Date())
      database = db
    },
    moveTo: async (next) => {
      vi.setSystemTime(next)
      if (database) await setDatabaseTime(database, next)
    },
    restore: () => void vi.useRealTimers(),
  }
}

async function setDatabaseTime(db: Kysely<Database>, time: Date): Promise<void> {
  await sql`update clock_shift set seconds = ${time.getTime() / 1000}::float8`.execute(db)
}
