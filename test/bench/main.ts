/**
 * `npm run bench` measures every row and prints a Markdown table; `npm run bench -- send` measures one row and
 * `--quick` uses shorter rounds. `--against DIR` compares sends, statuses, deliveries, a slow endpoint and the
 * cost of each with another checkout instead.
 * Every figure is the median of rounds that alternate between both sides.
 */
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Goal, Row } from './row.ts'
import { compareSends, compareSlowEndpoint, compareStatuses, compareWorkers } from './against-version.ts'
import { compareCosts } from './cost/compare-costs.ts'
import { accounts, attack, overload } from './rows/overload.ts'
import { ceiling, cpu, memory, nodes, processes } from './rows/capacity.ts'
import { dead, deliveries, deliveriesBare, slow } from './rows/deliveries.ts'
import { batched, lone, route, send, slowUpstream, stored, trpc } from './rows/sends.ts'
import { start } from './rows/start.ts'
import { statuses } from './rows/statuses.ts'
import { uploadsInMemory } from './rows/uploads.ts'
import { type Benchmark, openStage } from './stage.ts'

const tableHeader = [
  toLine(['row', 'measure', 'ours', 'other', 'against', 'ratio (minimum to maximum)', 'goal', 'met']),
  toLine(['---', '---', '--:', '--:', '---', '--:', '--:', '---']),
]

/** The rows of a benchmark as Markdown. */
function toLines({ name, against }: Benchmark, rows: Row[]): string[] {
  return rows.map((row) => {
    const { median, least, most } = row.ratio
    const ratio = Number.isFinite(median) ? `${digits(median)} (${digits(least)} to ${digits(most)})` : ''
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
async function describeMachine(databaseUrl: string): Promise<string> {
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

const rows: Benchmark[] = [
  send,
  lone,
  batched,
  slowUpstream,
  ceiling,
  route,
  trpc,
  cpu,
  { name: 'cost', against: '', run: (stage) => compareCosts(stage, undefined) },
  statuses,
  deliveries,
  deliveriesBare,
  dead,
  slow,
  stored,
  start,
  memory,
  uploadsInMemory,
  nodes,
  processes,
  overload,
  attack,
  accounts,
]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    against: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(`npm run bench -- [ROW ...] [--quick] [--against DIR]

Rows: ${rows.map(({ name }) => name).join(', ')}
--quick        shorter rounds and less data
--against DIR  compare send, statuses, deliveries, cost or slow with another checkout
DATABASE_URL   the PostgreSQL server to use; without it, the benchmark starts one`)
  process.exit()
}
const benchmarks = values.against === undefined ? rows : compareWith(values.against)
const chosen = positionals.length === 0 ? benchmarks : positionals.map(findBenchmark)

await using stage = await openStage({ quick: values.quick, databaseUrl: process.env['DATABASE_URL'] })
console.log(await describeMachine(stage.adminUrl))
console.log(`Medians of ${stage.rounds.count} alternating rounds; the ratio is the median of the rounds' ratios.\n`)
console.log(tableHeader.join('\n'))
for (const benchmark of chosen) console.log(toLines(benchmark, await benchmark.run(stage)).join('\n'))

function compareWith(checkout: string): Benchmark[] {
  return [
    { name: 'send', against: checkout, run: (stage) => compareSends(stage, checkout) },
    { name: 'statuses', against: checkout, run: (stage) => compareStatuses(stage, checkout) },
    { name: 'deliveries', against: checkout, run: (stage) => compareWorkers(stage, checkout) },
    { name: 'cost', against: checkout, run: (stage) => compareCosts(stage, checkout) },
    { name: 'slow', against: checkout, run: (stage) => compareSlowEndpoint(stage, checkout) },
  ]
}

function findBenchmark(name: string): Benchmark {
  const found = benchmarks.find((benchmark) => benchmark.name === name)
  if (!found) throw new Error(`unknown row ${name}; choose from ${benchmarks.map(({ name }) => name).join(', ')}`)
  return found
}
