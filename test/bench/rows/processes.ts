import { readFile } from 'node:fs/promises'
import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { createCustomer } from '../customer.ts'
import { canLimitCpu, limitCpu } from '../limit-cpu.ts'
import { runLoad } from '../run-load.ts'
import type { Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'

/** Enough for two processes to fill their batches: with half as many connections, a send costs 50 % more. */
const connections = 256
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
    const comparison = await compare({ ours: two.target, other: one.target }, connections, { ...stage.rounds, seconds })
    const measure = `sends/s through \`--processes 2\`, ${connections} connections, each process limited to ${percent} % of a core`
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
  await runLoad({ targets: [target], connections, warmUpSeconds: 3, seconds })
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
