import type { Kysely } from 'kysely'
import { readDatabaseClock } from './database-clock.ts'
import type { Database } from './schema.ts'

const longestTrustMilliseconds = 60_000

/**
 * The database's clock as its latest answers showed it, carried on by a clock of ours that nobody sets. It is never
 * behind by more than a jump of the database's clock, and ahead by no more than an answer took.
 */
export class ClockEstimate {
  #sample: { offset: number; takenAt: number } | undefined

  /** `databaseMs`: what the database's clock showed in a statement that left at `leftAt`. */
  learn(databaseMs: number, leftAt: number): void {
    this.#sample = { offset: databaseMs - leftAt, takenAt: performance.now() }
  }

  /** Milliseconds since 1970. Asks the database when its last answer is old. */
  async read(db: Kysely<Database>): Promise<number> {
    const now = performance.now()
    if (this.#sample && now - this.#sample.takenAt < longestTrustMilliseconds) return now + this.#sample.offset
    const databaseNow = (await readDatabaseClock(db)).getTime()
    this.learn(databaseNow, now)
    return databaseNow
  }
}

const estimates = new WeakMap<Kysely<Database>, ClockEstimate>()

export function clockEstimateOf(db: Kysely<Database>): ClockEstimate {
  const estimate = estimates.get(db) ?? new ClockEstimate()
  estimates.set(db, estimate)
  return estimate
}
