import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { appSecret, createCustomer, phoneNumberId } from '../customer.ts'
import { endpointUrls } from '../deliverer.ts'
import { runLoad } from '../run-load.ts'
import type { Stage } from '../stage.ts'
import { load, startProcess, until } from '../start-process.ts'
import { startReceiver } from '../start-receiver.ts'
import { type ProbedProcess, startProbed } from './probed-process.ts'

/** A server process of one version and its work. */
export interface Measured extends AsyncDisposable {
  item: string
  server: ProbedProcess
  /** Resolves to the number of items when all are done. */
  work(): Promise<number>
}

const sendConnections = 128
const callbackConnections = 64
/** Each can be reported twice. */
const storedMessages = { thorough: 200_000, quick: 80_000 }
const deliveries = { thorough: 16_000, quick: 6_000 }
/** No server listens at this address, because no worker runs while statuses are measured. */
const unusedEndpointUrl = 'http://127.0.0.1:9'

function seconds({ isQuick }: Stage): number {
  return isQuick ? 1.5 : 3
}

export async function openSends(stage: Stage, checkout: string): Promise<Measured> {
  return opened(async (resources) => {
    const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
    const customer = resources.use(await createCustomerOf(checkout, stage, upstream.url))
    const server = resources.use(await startServer(checkout, 'all', customer.environment))
    const targets = [customer.sendThrough(server.url)]
    const work = async () =>
      (await runLoad({ targets, connections: sendConnections, warmUpSeconds: 0, seconds: seconds(stage) })).answered
    return { item: 'send', server, work }
  })
}

export async function openStatuses(stage: Stage, checkout: string): Promise<Measured> {
  return opened(async (resources) => {
    const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
    const customer = resources.use(await createCustomerOf(checkout, stage, upstream.url))
    const { storeNumberedMessages } = await load<typeof import('../numbered-messages.ts')>(
      checkout,
      'numbered-messages.ts',
    )
    await addEndpointOf(checkout, customer, unusedEndpointUrl)
    const stored = stage.isQuick ? storedMessages.quick : storedMessages.thorough
    const messages = await storeNumberedMessages(customer, stored)
    const server = resources.use(await startServer(checkout, 'api', customer.environment))
    const secret = customer.environment['META_APP_SECRET'] ?? appSecret
    let sent = 0
    const work = async () => {
      const target = { url: server.url, appSecret: secret, phoneNumberId, messages, statusesPerCallback: 1, sent }
      const { answered } = await runLoad({
        targets: [target],
        connections: callbackConnections,
        warmUpSeconds: 0,
        seconds: seconds(stage) / 2,
      })
      sent += answered
      return answered
    }
    return { item: 'status callback', server, work }
  })
}

export async function openDeliveries(stage: Stage, checkout: string): Promise<Measured> {
  return opened(async (resources) => {
    const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
    const receiver = resources.use(await startReceiver({ milliseconds: 0 }))
    const customer = resources.use(await createCustomerOf(checkout, stage, upstream.url))
    const { queueDeliveries } = await load<typeof import('../our-deliverer.ts')>(checkout, 'our-deliverer.ts')
    const endpointIds: string[] = []
    for (const url of endpointUrls(receiver.url, 'cost'))
      endpointIds.push((await addEndpointOf(checkout, customer, url)).endpointId)
    const server = resources.use(await startServer(checkout, 'worker', customer.environment))
    const count = stage.isQuick ? deliveries.quick : deliveries.thorough
    const work = async () => {
      await receiver.receive('cost', count, () => queueDeliveries(customer, endpointIds, count))
      await until(async () => (await countWaiting(customer)) === 0)
      return count
    }
    return { item: 'delivery', server, work }
  })
}

type Customer = Awaited<ReturnType<typeof createCustomer>>

async function countWaiting({ deps }: Customer): Promise<number> {
  const { count } = await deps.db
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function createCustomerOf(checkout: string, stage: Stage, upstreamUrl: string): Promise<Customer> {
  const module = await load<typeof import('../customer.ts')>(checkout, 'customer.ts')
  return module.createCustomer(stage, upstreamUrl)
}

async function addEndpointOf(checkout: string, { deps, accountId }: Customer, url: string) {
  const { addEndpoint } = await load<typeof import('../../../src/webhooks/endpoints/change.ts')>(
    checkout,
    // The first two paths are those of older versions.
    '../../src/webhook/add-endpoint.ts',
    '../../src/webhooks/endpoints/add.ts',
    '../../src/webhooks/endpoints/change.ts',
  )
  return addEndpoint(deps, accountId, { url })
}

function startServer(checkout: string, role: string, environment: Record<string, string>): Promise<ProbedProcess> {
  return startProbed('src/cli/waybill.js', { root: checkout, args: ['serve', '--role', role], environment })
}

/** Disposes of what was opened when the result is disposed of, or when opening fails. */
async function opened(
  open: (resources: AsyncDisposableStack) => Promise<Omit<Measured, keyof AsyncDisposable>>,
): Promise<Measured> {
  await using resources = new AsyncDisposableStack()
  const measured = await open(resources)
  const kept = resources.move()
  return { ...measured, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

export function canCountSystemCalls(): boolean {
  return spawnSync('strace', ['-V']).status === 0
}

/** Counts the system calls of all threads of a process while `work` runs. The process is slow during that time. */
export async function countSystemCalls(pid: number, work: () => Promise<void>): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-strace-'))
  try {
    const report = path.join(folder, 'report')
    const strace = spawn('strace', ['-c', '-f', '-o', report, '-p', String(pid)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(strace, 'exit')
    // Its first output says that it is attached, or why it is not.
    const [output] = (await once(strace.stderr, 'data')) as [Buffer]
    if (!output.includes('attached')) throw new Error(`strace cannot attach: ${output.toString()}`)
    await work()
    strace.kill('SIGINT')
    await ended
    return readTotal(await readFile(report, 'utf8'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads the last line, such as `100.00    0.123456           3     41234       310 total`. */
function readTotal(report: string): number {
  const total = report.split('\n').find((line) => line.endsWith(' total'))
  const calls = total?.trim().split(/\s+/)[3]
  if (calls === undefined) throw new Error(`strace reported no total:\n${report}`)
  return Number(calls)
}

const bind = 'B'.charCodeAt(0)
const query = 'Q'.charCodeAt(0)
const headerBytes = 5

/** The name of statements that are not prepared. */
const unnamed = '(unnamed)'

/**
 * Names the statements that a client runs in these messages of PostgreSQL's protocol: each Bind message runs a prepared
 * statement, and each Query message runs its text. `pg` writes whole messages.
 */
export function readStatements(messages: Buffer): string[] {
  const names: string[] = []
  for (let at = 0; at + headerBytes <= messages.length; at += 1 + messages.readInt32BE(at + 1)) {
    if (messages[at] === query) names.push(firstWord(readText(messages, at + headerBytes)))
    if (messages[at] !== bind) continue
    const nameAt = messages.indexOf(0, at + headerBytes) + 1
    names.push(readText(messages, nameAt) || unnamed)
  }
  return names
}

function readText(messages: Buffer, at: number): string {
  return messages.toString('utf8', at, messages.indexOf(0, at))
}

function firstWord(statement: string): string {
  return statement.trim().split(/\s/, 1)[0] ?? ''
}
