import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from '../benchmark.ts'
import { buildPackage, builtServer } from '../built-package.ts'
import { createCustomer } from '../customer.ts'
import { readResidentBytes } from '../resident-bytes.ts'
import { runLoad } from '../run-load.ts'
import { startProcess } from '../start-process.ts'
import { summarize } from '../summarize.ts'
import type { Target } from '../target.ts'

const connections = 128
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
    await using server = await startProcess(builtServer, {
      args: ['serve'],
      environment: customer.environment,
    })
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
    sent += (await runLoad({ targets: [target], connections, warmUpSeconds: 0, seconds: 1 })).answered
  return sent
}
