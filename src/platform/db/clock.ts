import { type Kysely, sql } from 'kysely'
import { withoutTimeout } from './database.ts'
import type { Database } from './schema.ts'

/** The database's time: the clocks of the nodes may differ from it and from each other. */
export async function readDatabaseClock(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const now = rows[0]?.now
  if (!now) throw new Error('the database did not tell its time')
  return now
}

/** Clocks are corrected by less than this all the time, and nothing waits noticeably longer for it. */
export const clockToleranceSeconds = 5

export interface ClockReading {
  now: Date
  /** How far the clock is past the latest time that any process had seen; negative when it was set back. */
  secondsPastHighest: number
}

/** Reads the clock, and keeps the latest time that was seen. A crash may lose that of the last moment. */
export async function noteDatabaseClock(db: Kysely<Database>): Promise<ClockReading> {
  // The condition is asked of the row once more when it was locked, with the time of then.
  const { rows } = await sql<{ now: Date; past: number }>`
    with relaxed as (
      select set_config('synchronous_commit', 'off', true)
    ), noted as (
      update database_clock set highest = clock_timestamp() from relaxed
      where highest < clock_timestamp() - interval '1 second'
    )
    select now, extract(epoch from now - highest)::float8 as past
    from (select highest, clock_timestamp() as now from database_clock) clock`.execute(db)
  const row = rows[0]
  if (!row) throw new Error('the table database_clock has no row')
  return { now: row.now, secondsPastHighest: row.past }
}

/**
 * When the clock was set back, runs `adjust` once over all nodes, in the transaction that takes note of it, with
 * the seconds by which the clock is behind. Returns them; undefined when it was not, or another node is at it.
 */
export function adjustToEarlierClock(
  db: Kysely<Database>,
  adjust: (trx: Kysely<Database>, seconds: number) => Promise<void>,
): Promise<number | undefined> {
  return db.connection().execute((connection) =>
    withoutTimeout(connection, () =>
      connection.transaction().execute(async (trx) => {
        const { rows } = await sql<{ behind: number }>`
          select extract(epoch from highest - clock_timestamp())::float8 as behind from database_clock
          for update skip locked`.execute(trx)
        const behind = rows[0]?.behind ?? 0
        if (behind <= clockToleranceSeconds) return undefined
        await adjust(trx, behind)
        await sql`update database_clock set highest = clock_timestamp()`.execute(trx)
        return behind
      }),
    ),
  )
}

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
