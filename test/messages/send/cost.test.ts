import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProbedProcess, startProbed } from '../../bench/cost/probed-process.ts'
import { createCustomer } from '../../bench/customer.ts'
import { varying } from '../../bench/example.ts'
import { openStage } from '../../bench/stage.ts'
import { startProcess } from '../../bench/start-process.ts'
import { adminUrl } from '../../support/database.ts'
import { recordedCosts, recordedUnder } from './recorded-cost.ts'

/** The compilers that run when they find the time are off. */
const nodeArgs = ['--no-opt', '--no-maglev', '--no-sparkplug']

let resources: AsyncDisposableStack
let server: ProbedProcess
let sendOne: () => Promise<void>

beforeAll(async () => {
  resources = new AsyncDisposableStack()
  const stage = resources.use(await openStage({ quick: true, databaseUrl: adminUrl() }))
  const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
  const customer = resources.use(await createCustomer(stage, upstream.url))
  const args = ['serve', '--role', 'api']
  const { environment } = customer
  server = resources.use(await startProbed('src/cli/waybill.js', { args, environment, nodeArgs }))
  const pool = resources.adopt(new Pool(server.url), (opened) => opened.close())
  const { path, headers, body } = customer.sendThrough(server.url)
  let number = 1_000_000
  sendOne = async () => {
    const request = { path, method: 'POST', headers, body: body.replaceAll(varying, String(number++)) } as const
    const response = await pool.request(request)
    await response.body.dump()
    if (response.statusCode !== 200) throw new Error(`a send was answered with ${response.statusCode}`)
  }
  await repeat(200, sendOne)
})
afterAll(() => resources.disposeAsync())

async function repeat(count: number, run: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await run()
}

/** Statements of batches have other names than those of a lone send. Background work has none, and is not counted. */
function countNamed(counts: Record<string, number>): number {
  const named = Object.entries(counts).filter(([name]) => /^(find|record|settle)_/.test(name))
  return named.reduce((total, [, count]) => total + count, 0)
}

test('a send runs four statements alone, and fewer than two among 32', async () => {
  await server.countStatements()
  await repeat(100, sendOne)
  const alone = await server.readStatements()
  await server.countStatements()
  await repeat(20, () => Promise.all(Array.from({ length: 32 }, sendOne)))
  const amongOthers = await server.readStatements()

  expect(alone).toMatchObject({ find_caller: 100, find_send_facts: 100, record_pending: 100, settle_accepted: 100 })
  expect(countNamed(alone)).toBe(400)
  expect(countNamed(amongOthers) / (20 * 32)).toBeLessThan(2)
})

/** What the server allocates while `run` does its work. */
async function measure(run: () => Promise<unknown>): Promise<{ bytes: number; milliseconds: number }> {
  const startedAt = performance.now()
  await server.start()
  await run()
  return { bytes: (await server.stop()).bytes, milliseconds: performance.now() - startedAt }
}

test.runIf(process.version === recordedUnder)('a send allocates no more than recorded', async () => {
  const limit = recordedCosts[0].bytes * 1.05
  const [rounds, pauses]: [number[], number[]] = [[], []]
  const sends = 50
  // Work in the background only adds to a round, and on a busy machine there can be some in each of the first.
  while (rounds.length < 12 || (rounds.length < 60 && Math.min(...rounds) >= limit)) {
    const round = await measure(() => repeat(sends, sendOne))
    const idle = await measure(() => pause(200))
    pauses.push(idle.bytes / idle.milliseconds)
    // The slower the machine, the more background work falls into a round.
    rounds.push((round.bytes - Math.min(...pauses) * round.milliseconds) / sends)
  }

  const bytes = Math.round(Math.min(...rounds))
  console.log(`A lone send allocates ${bytes} bytes (recorded: ${recordedCosts[0].bytes}).`)
  expect(bytes).toBeLessThan(limit)
})
