import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { createCustomer } from '../bench/customer.ts'
import { varying } from '../bench/example.ts'
import { openStage } from '../bench/stage.ts'
import { startProcess } from '../bench/start-process.ts'
import { adminUrl } from '../support/database.ts'

/** V8 gives up a few assumptions about each function while it learns, and then keeps its code. */
const usual = 20

test('V8 does not compile a function of a send again and again', async () => {
  await using resources = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-'))
  resources.defer(() => rm(folder, { recursive: true }))
  const stage = resources.use(await openStage({ quick: true, databaseUrl: adminUrl() }))
  const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
  const customer = resources.use(await createCustomer(stage, upstream.url))
  const log = path.join(folder, 'v8.log')
  const nodeArgs = ['--log-deopt', '--no-logfile-per-isolate', `--logfile=${log}`]
  const { environment } = customer
  const server = await startProcess('src/cli/waybill.js', { args: ['serve', '--role', 'api'], environment, nodeArgs })
  await using stopping = new AsyncDisposableStack()
  stopping.use(server)
  const pool = stopping.adopt(new Pool(server.url), (opened) => opened.close())
  const { path: url, headers, body } = customer.sendThrough(server.url)
  const sendOne = async (number: number) => {
    const request = { path: url, method: 'POST', headers, body: body.replaceAll(varying, String(number)) } as const
    const response = await pool.request(request)
    await response.body.dump()
    expect(response.statusCode).toBe(200)
  }

  for (let number = 1_000_000; number < 1_006_000; number += 100)
    await Promise.all(Array.from({ length: 100 }, (_, index) => sendOne(number + index)))
  // The log is complete when the process has ended.
  await stopping.disposeAsync()

  const counts = countDeoptimizations(await readFile(log, 'utf8'))
  expect(counts.size).toBeGreaterThan(0)
  expect([...counts].filter(([, count]) => count > usual)).toEqual([])
})

/** The lines are such as `code-deopt,time,size,…,deopt-eager,<file:line:column>,wrong map`. */
function countDeoptimizations(log: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [, place = ''] of log.matchAll(/^code-deopt,.*,deopt-eager,<([^>]+)>/gm))
    counts.set(place, (counts.get(place) ?? 0) + 1)
  return counts
}
