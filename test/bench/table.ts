import { availableParallelism, cpus } from 'node:os'
import pg from 'pg'
import type { Benchmark } from './benchmark.ts'
import type { Goal, Row } from './row.ts'

export const tableHeader = [
  toLine(['row', 'measure', 'ours', 'other', 'against', 'ratio (minimum to maximum)', 'goal', 'met']),
  toLine(['---', '---', '--:', '--:', '---', '--:', '--:', '---']),
]

/** The rows of a benchmark as Markdown. */
export function toLines({ name, against }: Benchmark, rows: Row[]): string[] {
  return rows.map((row) => {
    const { median, least, most } = row.ratio
    const ratio = Number.isNaN(median) ? '' : `${digits(median)} (${digits(least)} to ${digits(most)})`
    const goal = row.goal ? [describeGoal(row, row.goal), isMet(row.goal, row) ? 'yes' : 'no'] : ['', '']
    return toLine([name, row.measure, quantity(row, row.ours), quantity(row, row.other), against, ratio, ...goal])
  })
}

function toLine(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** Empty if there is no other side. */
function quantity({ unit }: Row, value: number): string {
  if (Number.isNaN(value)) return ''
  if (unit === 'count') return digits(value)
  return unit === 'per second' || unit === 'bytes' ? Math.round(value).toLocaleString('en') : `${digits(value)} ${unit}`
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1)
}

function describeGoal({ unit }: Row, goal: Goal): string {
  if ('oursAtMost' in goal) return `≤ ${goal.oursAtMost} ${unit}`
  return 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`
}

function isMet(goal: Goal, { ours, ratio }: Row): boolean {
  if ('oursAtMost' in goal) return ours <= goal.oursAtMost
  return 'atLeast' in goal ? ratio.median >= goal.atLeast : ratio.median <= goal.atMost
}

/** Describes the machine of the measurement in one line. */
export async function describeMachine(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('show server_version')
  await client.end()
  return [
    new Date().toISOString().slice(0, 10),
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`,
    `Node ${process.versions.node}`,
    `PostgreSQL ${rows[0]?.server_version ?? 'unknown'}`,
    'everything on one machine',
  ].join(', ')
}
