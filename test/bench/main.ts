/**
 * `npm run bench` measures every row and prints a Markdown table; `npm run bench -- send` measures one row and
 * `--quick` uses shorter rounds. `--against DIR` compares sends, statuses, deliveries, a slow endpoint and the
 * cost of each with another checkout instead.
 * Every figure is the median of rounds that alternate between both sides.
 */
import { parseArgs } from 'node:util'
import { compareSends, compareSlowEndpoint, compareStatuses, compareWorkers } from './against-version.ts'
import type { Benchmark } from './benchmark.ts'
import { compareCosts } from './cost/compare-costs.ts'
import { describeMachine, tableHeader, toLines } from './table.ts'
import { accounts, attack, overload } from './rows/overload.ts'
import { ceiling, cpu, memory, nodes, processes } from './rows/capacity.ts'
import { dead, deliveries, deliveriesBare, slow } from './rows/deliveries.ts'
import { batched, lone, route, send, slowUpstream, stored, trpc } from './rows/sends.ts'
import { start } from './rows/start.ts'
import { statuses } from './rows/statuses.ts'
import { uploadsInMemory } from './rows/uploads.ts'
import { openStage } from './stage.ts'

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
