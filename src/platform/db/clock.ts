import { type Kysely, sql } from 'kysely'
import { withoutTimeout } from './database.ts'
import type { Database } from './schema.ts'

/** Returns the time of the database. The clocks of nodes may differ from it and from each other. */
export async function readDatabaseClock(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const now = rows[0]?.now
  if (!now) throw new Error('the database returned no time')
  return now
}

/**
 * Returns the earlier of the times of the database and this node, for deletions by age: whichever clock is ahead, nothing
 * is deleted too early.
 */
export async function readEarlierClock(db: Kysely<Database>, now: () => Date): Promise<Date> {
  const databaseNow = await readDatabaseClock(db)
  return new Date(Math.min(databaseNow.getTime(), now().getTime()))
}

/** Work that is due sooner may be in progress, because its due time is then the end of its lease. */
export const longerThanLeaseSeconds = 180

/** Smaller adjustments of a clock are common and cause no noticeable delay. */
export const clockToleranceSeconds = 5

export interface ClockReading {
  now: Date
  /**
   * Seconds since the latest time that any process had recorded; negative after the clock was set back. 0 if another
   * process has just recorded the same time.
   */
  secondsPastHighest: number
}

/** Reads the clock and records it as the latest time. A crash may lose the latest record. */
export async function recordDatabaseClock(db: Kysely<Database>): Promise<ClockReading> {
  // PostgreSQL re-evaluates the condition after it has locked the row, with the current time.
  const { rows } = await sql<{ now: Date; past: number }>`
    with relaxed as (
      select set_config('synchronous_commit', 'off', true)
    ), noted as (
      update database_clock set highest = clock_timestamp() from relaxed
      where highest < clock_timestamp() - interval '1 second'
      returning true
    )
    select now,
      case when highest > now or exists (select from noted) then extract(epoch from now - highest)::float8 else 0 end as past
    from (select highest, clock_timestamp() as now from database_clock) clock`.execute(db)
  const row = rows[0]
  if (!row) throw new Error('the table database_clock has no row')
  return { now: row.now, secondsPastHighest: row.past }
}

/**
 * If the clock was set back, runs `adjust` with the number of seconds, once over all nodes, in the transaction that
 * records the new time. Returns the seconds, or undefined if the clock was not set back or another node is adjusting.
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
 * Estimates the database clock from its latest response and the monotonic clock of this process. The estimate is behind
 * by no more than a jump of the database clock, and ahead by no more than the duration of a response.
 */
export class ClockEstimate {
  #sample: { offset: number; takenAt: number } | undefined
  #onJump: (() => void) | undefined

  /** `databaseMs` is the database time reported by a statement that was sent at `sentAt`. */
  addSample(databaseMs: number, sentAt: number): void {
    const offset = databaseMs - sentAt
    const jump = this.#sample ? Math.abs(offset - this.#sample.offset) : 0
    this.#sample = { offset, takenAt: performance.now() }
    if (jump > clockToleranceSeconds * 1000) this.#onJump?.()
  }

  /** Calls `onJump` whenever a sample suggests that the clock has jumped. A slow statement can suggest it, too. */
  watch(onJump: (() => void) | undefined): void {
    this.#onJump = onJump
  }

  /** Returns milliseconds since 1970. Queries the database if the latest response is too old. */
  async read(db: Kysely<Database>): Promise<number> {
    const now = performance.now()
    if (this.#sample && now - this.#sample.takenAt < longestTrustMilliseconds) return now + this.#sample.offset
    const databaseNow = (await readDatabaseClock(db)).getTime()
    this.addSample(databaseNow, now)
    return databaseNow
  }
}

const estimates = new WeakMap<Kysely<Database>, ClockEstimate>()

export function clockEstimateOf(db: Kysely<Database>): ClockEstimate {
  const estimate = estimates.get(db) ?? new ClockEstimate()
  estimates.set(db, estimate)
  return estimate
}
