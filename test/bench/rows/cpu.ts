import type { Benchmark } from '../benchmark.ts'
import { compareCpu } from '../compare-cpu.ts'
import { createCustomer } from '../customer.ts'
import { startProcess } from '../start-process.ts'

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
        {
          of: 'a send with `--memory large`',
          goals: { process: 55, postgres: 32 },
        },
      )),
    ]
  },
}
