import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { findPostmaster, readCpuTime, readPostgresCpuTime } from '../cpu-time.ts'
import { type Row, type Sides, summarize } from '../row.ts'
import { type RepeatedRequest, runLoad, type Target } from '../run-load.ts'
import type { Benchmark, Stage } from '../stage.ts'
import { buildPackage, builtServer } from './start.ts'
import { compare, toRow } from '../compare.ts'
import { createCustomer, sendTarget } from '../customer.ts'
import { readResidentBytes, startProcess } from '../start-process.ts'

const connections = 256

interface Measured {
  pid: number
  target: RepeatedRequest
}

/** Microseconds per send. */
interface Cost {
  process: number
  postgres: number
}

/**
 * Compares CPU time per send, which depends less on other load of the machine than sends per second. PostgreSQL's time
 * is that of the whole server, so the sides run alternately.
 */
async function compareCpu(
  stage: Stage,
  sides: Sides<Measured>,
  { of, goals }: { of: string; goals: Partial<Cost> },
): Promise<Row[]> {
  const postmaster = await findPostmaster(stage.adminUrl)
  const { count, seconds, firstWarmUpSeconds } = stage.rounds
  // The count of responses includes those of the warm-up, so the cost does too.
  const load = ({ target }: Measured, warmUpSeconds: number) =>
    runLoad({ targets: [target], connections, warmUpSeconds, seconds })
  const measure = async (side: Measured): Promise<Cost> => {
    const read = async () => ({ process: await readCpuTime(side.pid), postgres: await readPostgresCpuTime(postmaster) })
    const before = await read()
    const { answered } = await load(side, seconds)
    const after = await read()
    return {
      process: (after.process - before.process) / answered,
      postgres: (after.postgres - before.postgres) / answered,
    }
  }
  // On a busy machine, a cold server can take longer than a round for its first responses.
  for (const side of [sides.ours, sides.other]) await load(side, 3 * firstWarmUpSeconds)
  const rounds: Sides<Cost>[] = []
  while (rounds.length < count) rounds.push({ ours: await measure(sides.ours), other: await measure(sides.other) })
  const toRow = (part: keyof Cost, name: string) =>
    summarize(
      rounds.map(({ ours, other }) => ({ ours: ours[part], other: other[part] })),
      { measure: `CPU of ${name} for ${of}`, unit: 'µs', goal: withLimit(goals[part]) },
    )
  return [toRow('process', 'the process'), toRow('postgres', 'PostgreSQL')]
}

function withLimit(microseconds: number | undefined): Row['goal'] {
  return microseconds === undefined ? undefined : { oursAtMost: microseconds }
}

/** Short compared with the latency of a request, so that the limit causes no noticeable waits. */
const periodNanoseconds = 10_000_000

function canLimitCpu(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0 && !spawnSync('chrt', ['--version']).error
}

/**
 * Limits the main thread of a process to a share of a core until it ends, with the scheduling policy `SCHED_DEADLINE` of
 * Linux (sched(7)). The kernel grants the share in each period, while a program such as `cpulimit` stops the process for
 * longer than a request takes.
 */
function limitCpu(pid: number, percent: number): void {
  const period = String(periodNanoseconds)
  const runtime = String((periodNanoseconds * percent) / 100)
  const policy = ['--deadline', '--reset-on-fork', '--sched-period', period, '--sched-deadline', period]
  const { status, stderr } = spawnSync('chrt', [...policy, '--sched-runtime', runtime, '--pid', '0', String(pid)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the CPU time of process ${pid} could not be limited: ${stderr}`)
}

/** User and system time of a send, in the server process and in PostgreSQL, with both sizes of memory. */
export const cpu: Benchmark = {
  name: 'cpu',
  against: 'the baseline',
  run: async (stage) => {
    await using resources = new AsyncDisposableStack()
    const upstream = resources.use(await startProcess('test/bench/upstream.ts', { args: ['0'] }))
    const open = async (script: string, args: string[]) => {
      const customer = resources.use(await createCustomer(stage, upstream.url))
      const { url, pid } = resources.use(await startProcess(script, { args, environment: customer.environment }))
      return { pid, target: customer.sendThrough(url) }
    }
    const baseline = await open('test/bench/baseline.ts', [])
    const normal = await open('src/cli/waybill.js', ['serve'])
    const large = await open('src/cli/waybill.js', ['serve', '--memory', 'large'])
    return [
      ...(await compareCpu(stage, { ours: normal, other: baseline }, { of: 'a send', goals: {} })),
      ...(await compareCpu(
        stage,
        { ours: large, other: baseline },
        { of: 'a send with `--memory large`', goals: { process: 55, postgres: 32 } },
      )),
    ]
  },
}

/** How much of the speed remains with the database: compares with the same server and upstream without statements. */
export const ceiling: Benchmark = {
  name: 'ceiling',
  against: 'the same server without a database',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    await using ours = await startProcess('src/cli/waybill.js', { args: ['serve'], environment: customer.environment })
    await using other = await startProcess('test/bench/stubbed.ts', { args: ['database', upstream.url] })
    const targets = { ours: customer.sendThrough(ours.url), other: sendTarget(other.url, 'any') }
    const comparison = await compare(targets, connections, stage.rounds)
    return [toRow(comparison, 'perSecond', { measure: `sends/s, ${connections} connections`, goal: { atLeast: 0.6 } })]
  },
}

const memoryConnections = 128
const few = 20_000
const many = { thorough: 200_000, quick: 60_000 }
/** Time after the load for requests to free their memory, and for the idle process to collect garbage. */
const restMilliseconds = 45_000

/** The memory of the built package after many sends, compared with the same process after few sends. */
export const memory: Benchmark = {
  name: 'memory',
  against: `the same process after ${few.toLocaleString('en')} sends`,
  run: async (stage) => {
    const count = stage.isQuick ? many.quick : many.thorough
    await buildPackage()
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    await using server = await startProcess(builtServer, { args: ['serve'], environment: customer.environment })
    const target = customer.sendThrough(server.url)
    const measure = async () => {
      await delay(restMilliseconds)
      return (await readResidentBytes(server.pid)) / 1e6
    }
    const idle = await measure()
    const sent = await send(target, few)
    const other = await measure()
    await send(target, count - sent)
    const ours = await measure()
    const line = `resident memory after ${count.toLocaleString('en')} sends`
    return [
      summarize([{ ours, other }], { measure: line, unit: 'MB', goal: { atMost: 1.1 } }),
      summarize([{ ours, other: idle }], { measure: `${line}, against idle`, unit: 'MB', goal: { oursAtMost: 180 } }),
    ]
  },
}

/** Sends at least this many; returns the actual count. */
async function send(target: Target, count: number): Promise<number> {
  let sent = 0
  while (sent < count)
    sent += (await runLoad({ targets: [target], connections: memoryConnections, warmUpSeconds: 0, seconds: 1 }))
      .answered
  return sent
}

const nodesConnections = 256

/**
 * The benefit of a second node under a load that keeps more than one core busy. Each node, PostgreSQL, the upstream and
 * the load generator need a core each; with fewer than five cores, two nodes share the core of one.
 */
export const nodes: Benchmark = {
  name: 'nodes',
  against: 'one node',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using two = await openNodes(stage, upstream.url, 2)
    await using one = await openNodes(stage, upstream.url, 1)
    const comparison = await compare({ ours: two.targets, other: one.targets }, nodesConnections, stage.rounds)
    const measure = `sends/s through two \`--role api\` processes, ${nodesConnections} connections, ${availableParallelism()} cores`
    return [toRow(comparison, 'perSecond', { measure, goal: { atLeast: 1.6 } })]
  },
}

async function openNodes(stage: Stage, upstreamUrl: string, count: number) {
  await using resources = new AsyncDisposableStack()
  const customer = resources.use(await createCustomer(stage, upstreamUrl))
  const targets = []
  while (targets.length < count) {
    const options = { args: ['serve', '--role', 'api'], environment: customer.environment }
    const node = resources.use(await startProcess('src/cli/waybill.js', options))
    targets.push(customer.sendThrough(node.url))
  }
  const kept = resources.move()
  return { targets, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Enough for two processes to fill their batches: with half as many connections, a send costs 50 % more. */
const processesConnections = 256
const percent = 40
const seconds = 3

/**
 * The benefit of `serve --processes 2`. Two cores cannot show it at full speed, because load, upstream and PostgreSQL
 * need cores too. So each process gets the same share of a core on both sides.
 */
export const processes: Benchmark = {
  name: 'processes',
  against: 'one process',
  run: async (stage) => {
    if (!canLimitCpu()) {
      console.error('The row `processes` is skipped: limiting CPU time needs Linux, root and chrt (util-linux).')
      return []
    }
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using two = await openServer(stage, upstream.url, ['--processes', '2'])
    await using one = await openServer(stage, upstream.url, [])
    const comparison = await compare({ ours: two.target, other: one.target }, processesConnections, {
      ...stage.rounds,
      seconds,
    })
    const measure = `sends/s through \`--processes 2\`, ${processesConnections} connections, each process limited to ${percent} % of a core`
    return [toRow(comparison, 'perSecond', { measure, goal: { atLeast: 1.7 } })]
  },
}

async function openServer(stage: Stage, upstreamUrl: string, options: string[]) {
  await using resources = new AsyncDisposableStack()
  const customer = resources.use(await createCustomer(stage, upstreamUrl))
  const { url, pid } = resources.use(
    await startProcess('src/cli/waybill.js', {
      args: ['serve', '--role', 'api', ...options],
      environment: customer.environment,
    }),
  )
  const target = customer.sendThrough(url)
  // Warms up at full speed: with a share of a core, compilation would take up the first rounds.
  await runLoad({ targets: [target], connections: processesConnections, warmUpSeconds: 3, seconds })
  for (const server of await findServers(pid)) limitCpu(server, percent)
  const kept = resources.move()
  return { target, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** The processes that serve: the children of a supervisor, or the process itself. */
async function findServers(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pids = children.trim().split(' ').filter(Boolean).map(Number)
  return pids.length > 0 ? pids : [pid]
}
