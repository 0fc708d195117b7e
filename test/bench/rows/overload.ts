import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { request } from 'undici'
import { previewMessage } from '../../../contracts/api/message.ts'
import { createAccount, updateAccount } from '../../../src/accounts/account.ts'
import { generateKey } from '../../../src/accounts/api-key.ts'
import { accessTokenPurpose } from '../../../src/whatsapp-accounts/secrets.ts'
import type { TestServer } from '../../support/server.ts'
import { signedInOwner } from '../../support/user.ts'
import { type Interface, interfaces } from '../../support/worst-requests.ts'
import { type Row, type Sides, summarize } from '../row.ts'
import { compare, toRow } from '../compare.ts'
import { openConnection } from '../connection.ts'
import { readCpuTime } from '../cpu-time.ts'
import { createCustomer, type Customer } from '../customer.ts'
import { example } from '../example.ts'
import type { FloodOptions } from '../flood.ts'
import { readPeakBytes, startProcess } from '../start-process.ts'
import type { Benchmark } from '../stage.ts'

/** The server's limit of concurrent requests (src/http/limits/concurrency-limit.ts). */
const connections = 512

/** Twice as many callers as the server allows: served requests must not become slower. */
export const overload: Benchmark = {
  name: 'overload',
  against: `the same server with ${connections} connections`,
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    await using server = await startProcess('src/cli/waybill.js', {
      args: ['serve'],
      environment: customer.environment,
    })
    const target = customer.sendThrough(server.url)
    const both = { ours: target, other: target }
    const callers = { ours: 2 * connections, other: connections }
    const comparison = await compare(both, callers, stage.rounds, { mayRefuse: true })
    const at = `${2 * connections} connections`
    return [
      toRow(comparison, 'p99', { measure: `p99 of served sends, ${at}` }),
      toRow(comparison, 'perSecond', { measure: `served sends/s, ${at}` }),
    ]
  },
}

const attackConnections = 64
/** A rate that leaves the server idle, to measure latency instead of queueing. */
const previewsPerSecond = 100
const checksPerSecond = 10
/** The smallest heap that we support. */
const smallHeap = ['--max-old-space-size=192', '--max-heap-size=512']

interface Latencies {
  preview: number
  ready: number
}

/** What another account and the load balancer notice of an account that sends the worst requests through each interface. */
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
    for (const interfaceName of interfaces) rows.push(...(await attackInterface(interfaceName)))
    return [
      ...rows,
      ownFigure('peak of resident memory', 'MB', (await readPeakBytes(server.pid)) / 1e6),
      ownFigure('peak of resident memory with the smallest heap', 'MB', await surviveAttacks()),
      ownFigure('lines in the log', 'count', lines),
    ]

    /** Attacks a server with the smallest heap. Fails if it does not live on. */
    async function surviveAttacks(): Promise<number> {
      await using small = await start(smallHeap)
      for (const interfaceName of interfaces) {
        {
          await using _flood = await flood(small.url, interfaceName)
          await delay(stage.isQuick ? 5_000 : 20_000)
        }
        await measure(small.url, headers, 1)
      }
      return (await readPeakBytes(small.pid)) / 1e6
    }

    function flood(url: string, interfaceName: Interface): Promise<AsyncDisposable> {
      const options: FloodOptions = {
        url,
        interfaceName,
        headers: attacker[interfaceName],
        connections: attackConnections,
      }
      return startProcess('test/bench/flood.ts', { args: [JSON.stringify(options)] })
    }

    async function attackInterface(interfaceName: Interface): Promise<Row[]> {
      const rounds: Sides<Latencies>[] = []
      const seconds = stage.isQuick ? 3 : 5
      while (rounds.length < stage.rounds.count) {
        const other = await measure(server.url, headers, seconds)
        await using _flood = await flood(server.url, interfaceName)
        await delay(500)
        rounds.push({ ours: await measure(server.url, headers, seconds), other })
      }
      const figure = (name: keyof Latencies) =>
        rounds.map(({ ours, other }) => ({ ours: ours[name], other: other[name] }))
      return [
        summarize(figure('preview'), {
          measure: `p99 of another account's previews beside an attack by ${interfaceName}`,
          unit: 'ms',
          goal: { atMost: 3 },
        }),
        summarize(figure('ready'), { measure: `slowest /readyz beside it`, unit: 'ms', goal: { oursAtMost: 100 } }),
      ]
    }
  },
}

function ownFigure(measure: string, unit: Row['unit'], ours: number): Row {
  return { measure, unit, ours, other: NaN, ratio: { median: NaN, least: NaN, most: NaN } }
}

type Credentials = Record<Interface, Record<string, string>>

/** Another account, through any interface. */
async function addAttacker({ deps }: Customer, url: string): Promise<Credentials> {
  const { accountId } = await createAccount(deps, { name: 'Attacker' })
  await updateAccount(deps, accountId, { mcpEnabled: true, templateChangesEnabled: true })
  const { apiKey } = await generateKey(deps, accountId)
  const owner = await signedInOwner({ url, deps, request: requestOf(url) }, accountId)
  const withKey = { 'X-API-Key': apiKey }
  return { REST: withKey, tRPC: withKey, 'tRPC batches': withKey, MCP: withKey, dashboard: { Cookie: owner.cookie() } }
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

const whatsAppAccounts = 20_000
/** WhatsApp accounts of one account. */
const numbers = 10
/** How long WhatsApp takes for each of the reads of a check. */
const readMilliseconds = 300
const scrapeMilliseconds = 5_000
const readyMilliseconds = 100
const metricsToken = 'bench'

/** How often per second, with a check and a sync every 30 minutes and a count every minute. */
const needed = { checked: whatsAppAccounts / 1_800, synced: whatsAppAccounts / 1_800, counted: whatsAppAccounts / 60 }
type Work = Record<keyof typeof needed, number>

/** Background work of one process for 20,000 WhatsApp accounts that are all due at its start. */
export const accounts: Benchmark = {
  name: 'accounts',
  against: 'what the intervals need',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts', { args: ['0', String(readMilliseconds)] })
    await using customer = await createCustomer(stage, upstream.url)
    await addWhatsAppAccounts(customer)
    await using server = await startProcess('src/cli/waybill.js', {
      args: ['serve'],
      environment: { ...customer.environment, METRICS_TOKEN: metricsToken },
    })
    // The first pass of each job begins some seconds after the start.
    while ((await readWork(customer)).synced < 100) await delay(100)
    const [before, cpuBefore] = [await readWork(customer), await readCpuTime(server.pid)]
    const seconds = stage.isQuick ? 20 : 40
    const endsAt = performance.now() + seconds * 1_000
    const [scrapes, checks] = await Promise.all([
      poll(`${server.url}/metrics`, scrapeMilliseconds, endsAt),
      poll(`${server.url}/readyz`, readyMilliseconds, endsAt),
    ])
    const [after, cpuAfter] = [await readWork(customer), await readCpuTime(server.pid)]
    const rate = (work: keyof Work, measure: string): Row =>
      summarize([{ ours: (after[work] - before[work]) / seconds, other: needed[work] }], {
        measure,
        unit: 'per second',
        goal: { atLeast: 1 },
      })
    return [
      rate('checked', 'WhatsApp accounts checked'),
      rate('synced', 'WhatsApp accounts whose templates were listed'),
      rate('counted', 'WhatsApp accounts whose messages were counted'),
      figure('slowest `/metrics`', 'ms', Math.max(...scrapes), { oursAtMost: 100 }),
      figure('slowest `/readyz`', 'ms', Math.max(...checks), { oursAtMost: 100 }),
      figure('CPU time in a second', 'ms', (cpuAfter - cpuBefore) / 1_000 / seconds),
      figure('peak of resident memory', 'MB', (await readPeakBytes(server.pid)) / 1e6),
    ]
  },
}

function figure(measure: string, unit: Row['unit'], ours: number, goal?: Row['goal']): Row {
  return summarize([{ ours, other: NaN }], { measure, unit, goal })
}

async function addWhatsAppAccounts({ deps }: Customer): Promise<void> {
  const accountIds = Array.from({ length: whatsAppAccounts / numbers }, () => deps.newId('acc'))
  const ids = Array.from({ length: whatsAppAccounts }, () => deps.newId('wa'))
  const tokens = ids.map((id, index) => deps.secrets.encrypt(`token of ${index}`, accessTokenPurpose(id)))
  await sql`
    insert into accounts
    select (jsonb_populate_record(a, jsonb_build_object('id', new.id))).*
    from accounts a, unnest(${accountIds}::text[]) new (id)`.execute(deps.db)
  await sql`
    with added as (
      insert into whatsapp_accounts
        (id, account_id, phone_number_id, waba_id, access_token_encrypted, is_default, created_at)
      select id, (${accountIds}::text[])[1 + (n - 1) / ${numbers}::integer], 1e15::bigint + n, 2e15::bigint + n, token,
        n % ${numbers}::integer = 1, now()
      from unnest(${ids}::text[], ${tokens}::text[]) with ordinality new (id, token, n)
      returning id, account_id
    )
    insert into whatsapp_account_health (whatsapp_account_id, account_id) select id, account_id from added`.execute(
    deps.db,
  )
}

async function readWork({ deps }: Customer): Promise<Work> {
  const { rows } = await sql<Work>`
    select count(number_checked_at)::integer as checked, count(templates_synced_at)::integer as synced,
      count(*) filter (where next_traffic_at > now())::integer as counted
    from whatsapp_account_health h join whatsapp_accounts w on w.id = h.whatsapp_account_id`.execute(deps.db)
  const [work] = rows
  if (!work) throw new Error('a count has one row')
  return work
}

/** Resolves to the milliseconds of each response. */
async function poll(url: string, everyMilliseconds: number, endsAt: number): Promise<number[]> {
  const times: number[] = []
  while (performance.now() < endsAt) {
    const startedAt = performance.now()
    const response = await request(url, { headers: { authorization: `Bearer ${metricsToken}` } })
    await response.body.dump()
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
    times.push(performance.now() - startedAt)
    await delay(everyMilliseconds)
  }
  return times
}
