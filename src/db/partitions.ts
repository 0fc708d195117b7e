import { sql, type Kysely } from 'kysely'
import { firstIdAt } from '../ids.ts'
import type { Database } from './schema.ts'

/** The tables that grow with time, by the column that holds it (ids carry theirs), and a moment in its terms. */
const partitioned = [
  { table: 'messages', column: 'id', boundAt: (at: Date) => firstIdAt('msg', at) },
  { table: 'events', column: 'id', boundAt: (at: Date) => firstIdAt('evt', at) },
  { table: 'webhook_finished_deliveries', column: 'id', boundAt: (at: Date) => firstIdAt('dlv', at) },
  { table: 'webhook_attempts', column: 'started_at', boundAt: (at: Date) => at.toISOString() },
] as const satisfies { table: keyof Database; column: string; boundAt: (at: Date) => string }[]

const dayMilliseconds = 86_400_000
const weekMilliseconds = 7 * dayMilliseconds
/** A Monday, 00:00 UTC. */
const firstMonday = Date.UTC(2024, 0, 1)
/** As long as a service may be switched off and still find a place for its rows when it comes back. */
const weeksAhead = 4

/**
 * Makes the partitions of this week and the coming ones; what lies outside of them has one together.
 * Safe to run on many nodes: what exists stays.
 */
export async function createPartitions(db: Kysely<Database>, now: Date): Promise<void> {
  const thisWeek = weekOf(now)
  for (const { table, boundAt } of partitioned) {
    const existing = await findPartitions(db, table)
    if (!existing.includes(restOf(table))) await create(db, restOf(table), table, 'default')
    for (let index = 0; index <= weeksAhead; index++) {
      const start = new Date(thisWeek + index * weekMilliseconds)
      const end = new Date(start.getTime() + weekMilliseconds)
      const name = nameOf(table, start)
      const bounds = `for values from ('${boundAt(start)}') to ('${boundAt(end)}')`
      if (!existing.includes(name)) await create(db, name, table, bounds)
    }
  }
}

/**
 * Drops the partitions whose last row is older than the retention: a matter of milliseconds, however
 * many rows they hold. Returns their names. A table in use is left for the next time.
 */
export async function dropOldPartitions(db: Kysely<Database>, now: Date, retentionDays: number): Promise<string[]> {
  const oldest = new Date(now.getTime() - retentionDays * dayMilliseconds)
  const dropped: string[] = []
  for (const { table, column, boundAt } of partitioned) {
    const names = await findPartitions(db, table)
    for (const name of names.filter((candidate) => endsBefore(table, candidate, oldest)))
      if (await drop(db, name)) dropped.push(name)
    // What has no week of its own is a few rows.
    await sql`delete from ${sql.table(restOf(table))} where ${sql.ref(column)} < ${boundAt(oldest)}`.execute(db)
  }
  return dropped
}

function weekOf(time: Date): number {
  return firstMonday + Math.floor((time.getTime() - firstMonday) / weekMilliseconds) * weekMilliseconds
}

/** `messages_20261116`: the week that begins on that day. */
function nameOf(table: string, week: Date): string {
  return `${table}_${week.toISOString().slice(0, 10).replaceAll('-', '')}`
}

function endsBefore(table: string, name: string, time: Date): boolean {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(name.slice(table.length + 1)) ?? []
  return year !== undefined && Date.parse(`${year}-${month}-${day}T00:00:00Z`) + weekMilliseconds <= time.getTime()
}

/** Rows whose time is far off, or older than the first week that was made. */
function restOf(table: string): string {
  return `${table}_rest`
}

async function findPartitions(db: Kysely<Database>, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = ${table}::regclass`.execute(db)
  return rows.map((row) => row.name)
}

/** Names and bounds are made here, of letters, digits and the signs of a time. */
async function create(db: Kysely<Database>, name: string, table: string, bounds: string): Promise<void> {
  await sql.raw(`create table if not exists ${name} partition of ${table} ${bounds}`).execute(db)
}

const lockNotAvailable = '55P03'

/** False when the table is in use: a drop would wait for whoever reads, and all others for the drop. */
async function drop(db: Kysely<Database>, name: string): Promise<boolean> {
  try {
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '1s'`.execute(trx)
      await sql.raw(`drop table if exists ${name}`).execute(trx)
    })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === lockNotAvailable) return false
    throw error
  }
}
