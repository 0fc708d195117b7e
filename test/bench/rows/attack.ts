import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { previewMessage } from '../../../contracts/api/message.ts'
import { createAccount, updateAccount } from '../../../src/accounts/account.ts'
import { generateKey } from '../../../src/accounts/api-key.ts'
import type { TestServer } from '../../support/server.ts'
import { signedInOwner } from '../../support/user.ts'
import { type Door, doors } from '../../support/worst-requests.ts'
import type { Benchmark } from '../benchmark.ts'
import { openConnection } from '../connection.ts'
import { createCustomer, type Customer } from '../customer.ts'
import { example } from '../example.ts'
import type { FloodOptions } from '../flood.ts'
import { readPeakBytes } from '../resident-bytes.ts'
import type { Row } from '../row.ts'
import { startProcess } from '../start-process.ts'
import { type Sides, summarize } from '../summarize.ts'

const connections = 64
/** A rate that leaves the server idle, to measure latency instead of queueing. */
const previewsPerSecond = 100
const checksPerSecond = 10
/** The smallest heap that we support. */
const smallHeap = ['--max-old-space-size=192', '--max-heap-size=512']

interface Latencies {
  preview: number
  ready: number
}

/** What another account and the load balancer notice of an account that sends the worst requests through each door. */
export const attack: Benchmark = {
  name: 'attack',
  against: 'alone',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    let lines = 0
    const start = (nodeArgs: string[]) =>
      startProcess('src/cli/waybill.js', {
        args: ['serve'],
        environment: { ...customer.environment, LOG_LEVEL: 'info' },
        nodeArgs,
        onSpawn: ({ stdout }) =>
          stdout?.on('data', (data: Buffer) => (lines += data.toString().split('\n').length - 1)),
      })
    await using server = await start([])
    const attacker = await addAttacker(customer, server.url)
    const { headers } = customer.sendThrough(server.url)
    await measure(server.url, headers, 2)
    const rows: Row[] = []
    for (const door of doors) rows.push(...(await attackDoor(door)))
    return [
      ...rows,
      ownFigure('peak of resident memory', 'MB', (await readPeakBytes(server.pid)) / 1e6),
      ownFigure('peak of resident memory with the smallest heap', 'MB', await surviveAttacks()),
      ownFigure('lines in the log', 'count', lines),
    ]

    /** Attacks a server with the smallest heap. Fails if it does not live on. */
    async function surviveAttacks(): Promise<number> {
      await using small = await start(smallHeap)
      for (const door of doors) {
        {
          await using _flood = await flood(small.url, door)
          await delay(stage.isQuick ? 5_000 : 20_000)
        }
        await measure(small.url, headers, 1)
      }
      return (await readPeakBytes(small.pid)) / 1e6
    }

    function flood(url: string, door: Door): Promise<AsyncDisposable> {
      const options: FloodOptions = { url, door, headers: attacker[door], connections }
      return startProcess('test/bench/flood.ts', { args: [JSON.stringify(options)] })
    }

    async function attackDoor(door: Door): Promise<Row[]> {
      const rounds: Sides<Latencies>[] = []
      const seconds = stage.isQuick ? 3 : 5
      while (rounds.length < stage.rounds.count) {
        const other = await measure(server.url, headers, seconds)
        await using _flood = await flood(server.url, door)
        await delay(500)
        rounds.push({ ours: await measure(server.url, headers, seconds), other })
      }
      const figure = (name: keyof Latencies) =>
        rounds.map(({ ours, other }) => ({ ours: ours[name], other: other[name] }))
      return [
        summarize(figure('preview'), {
          measure: `p99 of another account's previews beside an attack by ${door}`,
          unit: 'ms',
          goal: { atMost: 3 },
        }),
        summarize(figure('ready'), {
          measure: `slowest /readyz beside it`,
          unit: 'ms',
          goal: { oursAtMost: 100 },
        }),
      ]
    }
  },
}

function ownFigure(measure: string, unit: Row['unit'], ours: number): Row {
  return { measure, unit, ours, other: NaN, ratio: { median: NaN, least: NaN, most: NaN } }
}

type Credentials = Record<Door, Record<string, string>>

/** Another account, through whatever door. */
async function addAttacker({ deps }: Customer, url: string): Promise<Credentials> {
  const { accountId } = await createAccount(deps, { name: 'Attacker' })
  await updateAccount(deps, accountId, { mcpEnabled: true, templateChangesEnabled: true })
  const { apiKey } = await generateKey(deps, accountId)
  const owner = await signedInOwner({ url, deps, request: requestOf(url) }, accountId)
  const withKey = { 'X-API-Key': apiKey }
  return {
    REST: withKey,
    tRPC: withKey,
    'tRPC batches': withKey,
    MCP: withKey,
    dashboard: { Cookie: owner.cookie() },
  }
}

function requestOf(url: string): TestServer['request'] {
  return async (method, path, options) => {
    const { statusCode, headers, body } = await request(url + path, { method: method as 'GET', ...options })
    const text = await body.text()
    return { statusCode, headers, text, json: () => JSON.parse(text) }
  }
}

/** The p99 of previews and the slowest health check, both at a steady rate whatever the latency. */
async function measure(url: string, headers: Record<string, string>, seconds: number): Promise<Latencies> {
  const body = JSON.stringify(example).replaceAll('#', '0')
  const fields = { ...headers, 'Content-Length': body.length }
  const [previews, checks] = await Promise.all([
    timeEach(url, previewsPerSecond, seconds, write('POST', previewMessage.path, fields, body)),
    timeEach(url, checksPerSecond, seconds, write('GET', '/readyz', {}, '')),
  ])
  return { preview: previews[Math.floor(previews.length * 0.99)] ?? NaN, ready: checks.at(-1) ?? NaN }
}

function write(method: string, path: string, fields: Record<string, string | number>, body: string): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', ...Object.entries(fields).map((field) => field.join(': '))]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

/** Milliseconds of each request, sorted. */
async function timeEach(url: string, perSecond: number, seconds: number, bytes: Buffer): Promise<number[]> {
  const idle = [await openConnection(url, () => bytes)]
  const startedAt = performance.now()
  const exchanges = Array.from({ length: perSecond * seconds }, async (_, index) => {
    const dueAt = startedAt + (index * 1000) / perSecond
    await delay(Math.max(0, dueAt - performance.now()))
    const sentAt = performance.now()
    const connection = idle.pop() ?? (await openConnection(url, () => bytes))
    await connection.exchange()
    idle.push(connection)
    return performance.now() - sentAt
  })
  const took = await Promise.all(exchanges)
  for (const connection of idle) connection.close()
  return took.toSorted((a, b) => a - b)
}
