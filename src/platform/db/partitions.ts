import { type Kysely, sql } from 'kysely'
import { dayMilliseconds } from '../../../contracts/time.ts'
import { codeOf } from '../error-code.ts'
import { firstIdAt, firstRequestIdAt } from '../ids.ts'
import { isLockTimeout } from './errors.ts'
import type { Database } from './schema.ts'

/**
 * Tables that grow with time, the column that holds the time (IDs contain it), and the bound of a time in that column.
 */
const partitioned = [
  { table: 'messages', column: 'id', boundAt: (at: Date) => firstIdAt('msg', at) },
  { table: 'message_contents', column: 'message_id', boundAt: (at: Date) => firstIdAt('msg', at) },
  { table: 'wa_message_ids', column: 'message_id', boundAt: (at: Date) => firstIdAt('msg', at) },
  { table: 'events', column: 'id', boundAt: (at: Date) => firstIdAt('evt', at) },
  { table: 'webhook_finished_deliveries', column: 'id', boundAt: (at: Date) => firstIdAt('dlv', at) },
  { table: 'webhook_attempts', column: 'started_at', boundAt: (at: Date) => at.toISOString() },
  { table: 'api_requests', column: 'id', boundAt: firstRequestIdAt },
] as const satisfies { table: keyof Database; column: string; boundAt: (at: Date) => string }[]

const weekMilliseconds = 7 * dayMilliseconds
/** A Monday, 00:00 UTC. */
const firstMonday = Date.UTC(2024, 0, 1)
/** A service that was stopped for this long still finds partitions for its rows when it restarts. */
const weeksAhead = 4

/** Each message is updated a few times, so space is left beside the row. */
const storage: Partial<Record<string, string>> = { messages: ' with (fillfactor = 50)' }

/** A partition that could not be created, and the reason. */
export interface MissingPartition {
  partition: string
  error: unknown
}

/**
 * Creates the partitions of this week and the coming weeks; rows outside them share one default partition. Safe to run
 * on many nodes: existing partitions stay. Returns the partitions that could not be created, for example because the
 * table was in use: the weeks ahead leave time for retries. Throws only if a table has no partition at all.
 */
export async function createPartitions(db: Kysely<Database>, now: Date): Promise<MissingPartition[]> {
  const missing: MissingPartition[] = []
  for (const { table, boundAt } of partitioned) {
    const existing = await findPartitions(db, table)
    for (const partition of listWanted(table, boundAt, now).filter(({ name }) => !existing.includes(name))) {
      try {
        await create(db, partition)
      } catch (error) {
        if (existing.length === 0) throw error
        missing.push({ partition: partition.name, error })
        // The next partition would block the table for another second.
        if (isLockTimeout(error)) break
      }
    }
  }
  return missing
}

interface Partition {
  name: string
  table: string
  /** Undefined for the default partition. */
  range?: { from: string; to: string }
}

function listWanted(table: string, boundAt: (at: Date) => string, now: Date): Partition[] {
  const weeks = Array.from({ length: weeksAhead + 1 }, (_, index) => {
    const start = new Date(weekOf(now) + index * weekMilliseconds)
    const end = new Date(start.getTime() + weekMilliseconds)
    return { name: nameOf(table, start), table, range: { from: boundAt(start), to: boundAt(end) } }
  })
  return [{ name: defaultPartitionOf(table), table }, ...weeks]
}

/** Tables that are kept for fewer days than messages. */
type ShorterRetention = Partial<Record<(typeof partitioned)[number]['table'], number>>

/**
 * Drops the partitions whose last row is older than the retention period and returns their names. This takes
 * milliseconds, regardless of the number of rows. A table in use is skipped until the next run.
 */
export async function dropOldPartitions(
  db: Kysely<Database>,
  now: Date,
  retentionDays: number,
  shorter: ShorterRetention = {},
): Promise<string[]> {
  const dropped: string[] = []
  for (const { table, column, boundAt } of partitioned) {
    const keptDays = Math.min(retentionDays, shorter[table] ?? retentionDays)
    const oldest = oldestAt(now, keptDays)
    const names = await findPartitions(db, table)
    for (const name of names.filter((candidate) => endsBefore(table, candidate, oldest)))
      if (await drop(db, name)) dropped.push(name)
    // The default partition holds only a few rows, so they are deleted one by one.
    await sql`delete from ${sql.table(defaultPartitionOf(table))} where ${sql.ref(column)} < ${boundAt(oldest)}`.execute(
      db,
    )
  }
  return dropped
}

/** Returns the start of the oldest week whose partitions `dropOldPartitions` keeps. */
export function oldestWeekAt(now: Date, retentionDays: number): Date {
  return new Date(weekOf(oldestAt(now, retentionDays)))
}

/** Not before 1970: PostgreSQL does not read JavaScript's years before 1. */
function oldestAt(now: Date, keptDays: number): Date {
  return new Date(Math.max(0, now.getTime() - keptDays * dayMilliseconds))
}

function weekOf(time: Date): number {
  return firstMonday + Math.floor((time.getTime() - firstMonday) / weekMilliseconds) * weekMilliseconds
}

/** Names a partition after its first day, for example `messages_20261116`. */
function nameOf(table: string, week: Date): string {
  return `${table}_${week.toISOString().slice(0, 10).replaceAll('-', '')}`
}

function endsBefore(table: string, name: string, time: Date): boolean {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(name.slice(table.length + 1)) ?? []
  return year !== undefined && Date.parse(`${year}-${month}-${day}T00:00:00Z`) + weekMilliseconds <= time.getTime()
}

/** Name of the default partition, for rows far in the future or before the first partition. */
function defaultPartitionOf(table: string): string {
  return `${table}_rest`
}

async function findPartitions(db: Kysely<Database>, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = ${table}::regclass`.execute(db)
  return rows.map((row) => row.name)
}

const checkViolation = '23514'

async function create(db: Kysely<Database>, partition: Partition): Promise<void> {
  try {
    await withShortLockTimeout(db, (trx) => createEmpty(trx, partition))
  } catch (error) {
    if (codeOf(error) !== checkViolation) throw error
    await withShortLockTimeout(db, (trx) => createFromDefault(trx, partition))
  }
}

/** Names and bounds are generated here and contain only letters, digits, underscores and timestamp punctuation. */
async function createEmpty(trx: Kysely<Database>, { name, table, range }: Partition): Promise<void> {
  const bounds = range ? `for values from ('${range.from}') to ('${range.to}')` : 'default'
  await sql
    .raw(`create table if not exists ${name} partition of ${table} ${bounds}${storage[table] ?? ''}`)
    .execute(trx)
}

/**
 * Creates a partition whose rows are already in the default partition, because a clock was weeks ahead. PostgreSQL does
 * not move them.
 */
async function createFromDefault(trx: Kysely<Database>, partition: Partition): Promise<void> {
  const { name, table, range } = partition
  const column = partitioned.find((candidate) => candidate.table === table)?.column
  if (!range || column === undefined) return
  const [all, rest, aside] = [sql.table(table), sql.table(defaultPartitionOf(table)), sql.table(`${name}_aside`)]
  // Locks the parent first, in the same order as queries do.
  await sql`lock table only ${all} in access exclusive mode`.execute(trx)
  await sql`lock table ${rest} in access exclusive mode`.execute(trx)
  await sql`create table ${aside} (like ${rest})`.execute(trx)
  await sql`
    with moved as (
      delete from ${rest} where ${sql.ref(column)} >= ${range.from} and ${sql.ref(column)} < ${range.to} returning *
    )
    insert into ${aside} select * from moved`.execute(trx)
  await createEmpty(trx, partition)
  await sql`insert into ${all} select * from ${aside}`.execute(trx)
  await sql`drop table ${aside}`.execute(trx)
}

/** Returns false if the table is in use. */
async function drop(db: Kysely<Database>, name: string): Promise<boolean> {
  try {
    await withShortLockTimeout(db, (trx) => sql.raw(`drop table if exists ${name}`).execute(trx))
    return true
  } catch (error) {
    if (isLockTimeout(error)) return false
    throw error
  }
}

/** A statement that waits for a table lock blocks all later statements on that table, so it must give up quickly. */
async function withShortLockTimeout(
  db: Kysely<Database>,
  change: (trx: Kysely<Database>) => Promise<unknown>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '1s'`.execute(trx)
    await change(trx)
  })
}
