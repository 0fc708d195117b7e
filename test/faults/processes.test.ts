import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { freePort } from '../support/postgres.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { isRunning } from '../support/signal-tree.ts'
import { openScene } from './scene.ts'

const example = sendMessage.example.input
const metricsToken = 'metrics-of-all'

const { simulator, environment, app, apiKey, accountId } = await openScene({
  METRICS_TOKEN: metricsToken,
  LOG_LEVEL: 'info',
})

/** The process IDs of the servers that share the port. */
async function serversOf({ pid }: Pick<ServeProcess, 'pid'>): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

async function readMetric({ url }: ServeProcess, pattern: RegExp): Promise<number> {
  const { body } = await request(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  const line = (await body.text()).split('\n').find((text) => pattern.test(text))
  return Number(line?.split(' ').at(-1))
}

interface Load {
  accepted: string[]
  failures: unknown[]
  stop(): Promise<void>
}

/** Longer than a request may take to arrive (10 seconds) and a call to WhatsApp with it (25 seconds). */
const hangs = 40_000

/** Four callers send messages sequentially, each with an idempotency key. */
function startLoad(node: ServeProcess, name: string, { repeats }: { repeats: boolean }): Load {
  const accepted: string[] = []
  const failures: unknown[] = []
  const stopping = new AbortController()
  const { signal } = stopping

  async function sendOne(key: string): Promise<void> {
    const response = await node
      .send(apiKey, { ...example, externalId: key }, { 'idempotency-key': key }, AbortSignal.timeout(hangs))
      .catch((error: unknown) => error)
    if (isAccepted(response)) accepted.push(response.body.data.messageId)
    else if (!repeats) failures.push(response)
    else if (!signal.aborted) await sendOne(key)
  }
  async function call(caller: number): Promise<void> {
    for (let number = 0; !signal.aborted; number++) await sendOne(`${name}-${caller}-${number}`)
  }
  const callers = Array.from({ length: 4 }, (_, caller) => call(caller))
  return {
    accepted,
    failures,
    stop: async () => {
      stopping.abort()
      await Promise.all(callers)
    },
  }
}

function isAccepted(response: unknown): response is { body: { data: { messageId: string } } } {
  return typeof response === 'object' && response !== null && 'statusCode' in response && response.statusCode === 200
}

async function untilSent(load: Load, more: number): Promise<void> {
  const goal = load.accepted.length + more
  await expect.poll(() => load.accepted.length).toBeGreaterThan(goal)
}

const answersAfterThreeSeconds = '15559000001'

function countSlowSends(): number {
  return simulator.requests.filter(({ body }) => JSON.stringify(body).includes(answersAfterThreeSeconds)).length
}

test('serves one port with several processes, and counts them together', async () => {
  const node = await startServe(environment, ['--processes', '2'])
  expect(await serversOf(node)).toHaveLength(2)

  for (let count = 0; count < 10; count++) expect((await node.send(apiKey, example)).statusCode).toBe(200)

  // The kernel gives a new connection to either process.
  for (let count = 0; count < 4; count++) await request(`${node.url}/healthz`, { headers: { connection: 'close' } })
  expect(await readMetric(node, /_count\{.*route="\/api\/v1\/message\/send",status="200"/)).toBe(10)
  expect(await readMetric(node, /_count\{.*route="\/healthz"/)).toBe(4)
  expect(await readMetric(node, /^waybill_processes /)).toBe(2)
  expect(await readMetric(node, /^waybill_webhook_deliveries_waiting /)).toBe(0)
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test('replaces a killed process while the others continue, and sends nothing twice', async () => {
  const node = await startServe(environment, ['--processes', '2'])
  const before = await serversOf(node)
  const load = startLoad(node, 'killed', { repeats: true })
  await untilSent(load, 20)

  process.kill(before[0] ?? 0, 'SIGKILL')

  await untilSent(load, 20)
  await expect.poll(() => readMetric(node, /^waybill_processes /)).toBe(2)
  expect(await readMetric(node, /^waybill_processes_replaced_total /)).toBe(1)
  expect(await serversOf(node)).toEqual([before[1], expect.any(Number)])
  await load.stop()
  const messages = await app.deps.db
    .selectFrom('messages')
    .select(['external_id', 'status'])
    .where('account_id', '=', accountId)
    .where('external_id', 'like', 'killed-%')
    .where('status', '!=', 'failed')
    .execute()
  const ids = messages.map(({ external_id }) => external_id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(load.accepted).size).toBe(load.accepted.length)
  node.kill('SIGTERM')
  await node.exited
})

test('answers requests while a process is frozen, and when it is then killed', async () => {
  const node = await startServe(environment, ['--processes', '2'])
  const [frozen = 0] = await serversOf(node)
  process.kill(frozen, 'SIGSTOP')
  await expect.poll(() => stateOf(frozen)).toBe('T')

  const answers = Array.from({ length: 8 }, () =>
    request(`${node.url}/healthz`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(hangs) }),
  )
  await Promise.race(answers)
  process.kill(frozen, 'SIGKILL')

  expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(200))
  node.kill('SIGTERM')
  await node.exited
})

test('ends every request within a time limit when processes are killed again and again', async () => {
  const node = await startServe({ ...environment, PORT: String(await freePort()) }, ['--processes', '2'])
  const hung: string[] = []
  let ended = 0
  const stopping = new AbortController()
  const { signal } = stopping
  async function call(): Promise<void> {
    while (!signal.aborted) {
      const timeout = AbortSignal.timeout(hangs)
      await request(`${node.url}/healthz`, { headers: { connection: 'close' }, signal: timeout }).then(
        ({ body }) => body.dump(),
        // A closed or refused connection ends a request too.
        () => timeout.aborted && hung.push('no answer, and the connection stayed open'),
      )
      ended++
    }
  }
  const callers = Array.from({ length: 16 }, call)

  for (let kills = 1; kills <= 5; kills++) {
    const before = ended
    await expect.poll(() => ended).toBeGreaterThan(before + 200)
    const [killed = 0] = await serversOf(node)
    process.kill(killed, 'SIGKILL')
    await expect.poll(() => readMetric(node, /^waybill_processes_replaced_total /)).toBe(kills)
    await expect.poll(() => readMetric(node, /^waybill_processes /)).toBe(2)
  }

  stopping.abort()
  await Promise.all(callers)
  expect(hung).toEqual([])
  node.kill('SIGTERM')
  await node.exited
})

test('starts again when all processes die soon after their start', async () => {
  const node = await startServe({ ...environment, PORT: String(await freePort()) }, ['--processes', '2'])
  const before = await serversOf(node)

  for (const pid of before) process.kill(pid, 'SIGKILL')

  const response = () =>
    request(`${node.url}/readyz`).then(
      ({ statusCode }) => statusCode,
      () => undefined,
    )
  await expect.poll(response).toBe(200)
  await expect.poll(() => serversOf(node)).toHaveLength(2)
  expect((await serversOf(node)).filter((pid) => before.includes(pid))).toEqual([])
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test.each(['1', '2'])('replaces all processes, %s, on SIGHUP without a lost request', async (processes) => {
  const node = await startServe(environment, ['--processes', processes])
  const before = await serversOf(node)
  const load = startLoad(node, `replaced-${processes}`, { repeats: false })
  await untilSent(load, 20)

  node.kill('SIGHUP')

  await expect.poll(() => node.output.join('\n')).toContain('replaced all processes')
  await expect.poll(async () => (await serversOf(node)).filter((pid) => before.includes(pid))).toEqual([])
  await untilSent(load, 20)
  await load.stop()
  expect(load.failures).toEqual([])
  expect(await readMetric(node, /^waybill_processes_replaced_total /)).toBe(0)
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test('starts at most one extra process at a time on SIGHUP, even if it is sent before they listen', async () => {
  let most: Promise<number> | undefined
  const replaced = new AbortController()
  const node = await startServe(environment, ['--processes', '2'], (child) => {
    most = once(child, 'spawn').then(async () => {
      const count = async () => (await serversOf({ pid: child.pid ?? 0 })).length
      await expect.poll(count).toBe(2)
      child.kill('SIGHUP')
      let counted = 2
      while (!replaced.signal.aborted) counted = Math.max(counted, await count())
      return counted
    })
  })
  await expect.poll(() => node.output.join('\n')).toContain('replaced all processes')
  replaced.abort()

  expect(await most).toBe(3)
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test('finishes a send in progress on SIGHUP, and ends, if it is the only process', async () => {
  const node = await startServe(environment)
  const before = countSlowSends()
  const slow = node.send(apiKey, { ...example, to: answersAfterThreeSeconds })
  await expect.poll(countSlowSends).toBe(before + 1)

  node.kill('SIGHUP')

  expect(await slow).toMatchObject({ statusCode: 200, body: { success: true } })
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test.each([{ args: [] }, { args: ['--processes', '1'] }])('opens no debugger on SIGUSR1: $args', async ({ args }) => {
  const node = await startServe(environment, args)
  for (const pid of [node.pid, ...(await serversOf(node))]) process.kill(pid, 'SIGUSR1')

  const answered = await node.get('/healthz')
  node.kill('SIGTERM')

  expect([answered.statusCode, (await node.exited).code]).toEqual([200, 0])
  expect(node.output.join('\n')).not.toMatch(/debugger|inspector/i)
})

test('finishes the sends in progress on SIGTERM', async () => {
  const node = await startServe(environment, ['--processes', '2'])
  const before = countSlowSends()
  const slow = Array.from({ length: 4 }, () => node.send(apiKey, { ...example, to: answersAfterThreeSeconds }))
  await expect.poll(countSlowSends).toBe(before + 4)

  node.kill('SIGTERM')

  expect((await Promise.all(slow)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

test('leaves no orphaned process when the first one is killed', async () => {
  const node = await startServe(environment, ['--processes', '2'])
  const servers = await serversOf(node)

  node.kill('SIGKILL')

  const areAlive = () => servers.filter((pid) => isRunning(pid))
  await expect.poll(areAlive).toEqual([])
})

test('exits with the reason when its processes cannot start', async () => {
  const unreachable = { ...environment, DATABASE_URL: 'postgres://waybill:waybill@127.0.0.1:9/waybill' }
  await expect(startServe(unreachable, ['--processes', '2'])).rejects.toThrow(/127\.0\.0\.1|database/i)
})

test('refuses several processes on the embedded database', async () => {
  const { DATABASE_URL: _, ...embedded } = environment
  await expect(startServe(embedded, ['--processes', '2'])).rejects.toThrow(
    'The embedded database belongs to one process. Set DATABASE_URL to use several, or leave out --processes.',
  )
})

/** The state of a process in /proc, such as T for stopped. */
async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0]
}
