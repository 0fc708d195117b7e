import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { type MessageEvent, messageEventTypes } from '../../contracts/events.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { checkNow } from '../../src/whatsapp-accounts/health/check.ts'
import { findWhatsAppAccounts } from '../../src/whatsapp-accounts/store.ts'
import { createCustomer, openApp, secretKey } from '../faults/customer.ts'
import { freePort } from '../support/postgres.ts'
import {
  accept,
  respond,
  type Behaviour,
  type ReceivedWebhook,
  startWebhookReceiver,
} from '../support/webhook-receiver.ts'
import { check, type Violation } from './check.ts'
import { startFaultyPostgres } from './database.ts'
import { causeFaults, type FaultKind, type FaultyParts } from './faults.ts'
import { type Entry, type LedgerWriter, openLedger, readLedger, type WebhookAnswer } from './ledger.ts'
import { type Load, readEndState, startLoad } from './load.ts'
import { ChaosNode } from './node.ts'
import { createRandom, type Random } from './random.ts'
import { webhookTimeoutMilliseconds } from './repeated-webhooks.ts'
import { startUpstream, type Upstream, type UpstreamReply } from './start-upstream.ts'

export interface RoundOptions {
  database: 'postgres' | 'pglite'
  seed: number
  /** The campaign ends when either limit is reached. */
  kills: number
  minutes: number
  faults: readonly FaultKind[]
  /** The longest wait for progress after the faults. Anything unfinished after it is a violation. */
  settleSeconds: number
  /** Keeps the ledger of a round without violations. */
  keep: boolean
}

export interface Round {
  folder: string
  kills: number
  entries: Entry[]
  violations: Violation[]
}

const sender = { phoneNumberId: '100000000000001', wabaId: '200000000000001', accessToken: 'chaos-access-token' }
const appSecret = 'chaos-app-secret'
/** Roles of the processes that share PostgreSQL: most installations run `all`; `api` delivers no webhooks. */
const roles = ['all', 'api', 'all'] as const
const alone = ['all'] as const

type Nodes = [ChaosNode, ...ChaosNode[]]

/** Runs one service on its own database, injects faults, waits until it is idle and checks the ledger. */
export async function runRound(options: RoundOptions): Promise<Round> {
  const { database, seed, faults } = options
  await using resources = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), `waybill-chaos-${database}-${seed}-`))
  const clock = faults.includes('clock')
  const postgres = database === 'postgres' ? await startFaultyPostgres(folder, { clock }) : undefined
  if (postgres) resources.defer(() => postgres.stop())
  const goal = { kills: options.kills, endsAt: Date.now() + options.minutes * 60_000 }
  const service = {
    folder,
    seed,
    databaseUrl: postgres?.url,
    roles: postgres ? roles : alone,
    clocksJump: clock,
    settleSeconds: options.settleSeconds,
  }
  const { result: kills, ...observed } = await runUnderLoad(service, (parts) =>
    causeFaults({ ...parts, postgres }, faults, goal),
  )
  if (observed.violations.length === 0 && !options.keep)
    resources.defer(() => rm(folder, { recursive: true, force: true }))
  return { folder, kills, ...observed }
}

export interface ServiceOptions {
  /** Gets the ledger, and the data of the processes. */
  folder: string
  seed: number
  /** Undefined for the embedded database. */
  databaseUrl: string | undefined
  /** Of each process. The first has an API. */
  roles: readonly ['all' | 'api', ...('all' | 'api' | 'worker')[]]
  clocksJump: boolean
  /** The longest wait for progress after the faults. Anything unfinished after it is a violation. */
  settleSeconds: number
}

export interface ServiceParts extends Omit<FaultyParts, 'postgres'> {
  load: Load
}

/** Runs a service under load while `act` does something to it, waits until it is idle and checks the ledger. */
export async function runUnderLoad<Result>(
  { folder, seed, databaseUrl, roles, clocksJump, settleSeconds }: ServiceOptions,
  act: (parts: ServiceParts) => Promise<Result>,
): Promise<Pick<Round, 'entries' | 'violations'> & { result: Result }> {
  await using resources = new AsyncDisposableStack()
  const ledgerFolder = path.join(folder, 'ledger')
  const dataDir = path.join(folder, 'data')
  for (const each of [ledgerFolder, dataDir]) await mkdir(each)
  const ledger = openLedger(ledgerFolder, 'campaign')

  const nodeClockFile = path.join(folder, 'node-clock')
  await writeFile(nodeClockFile, '0')
  const upstreamPort = await freePort()
  const environment = {
    GRAPH_API_URL: `http://127.0.0.1:${upstreamPort}`,
    META_APP_SECRET: appSecret,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_TIMEOUT_SECONDS: String(webhookTimeoutMilliseconds / 1000),
    WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 60 }, () => '1s').join(','),
    WAYBILL_SECRET_KEY: secretKey,
    WAYBILL_DATA_DIR: dataDir,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
  const receiver = await startWebhookReceiver()
  resources.defer(() => receiver.close())
  const { all, withApi } = await createNodes({ environment, nodeClockFile, ledgerFolder, roles, ledger })
  resources.defer(() => Promise.all(all.map((node) => node.stop())).then(() => {}))
  const [first, ...others] = withApi
  const upstream = await startUpstream({
    seed,
    port: upstreamPort,
    folder: ledgerFolder,
    appSecret,
    sender,
    callbackOrigins: [first.url, ...others.map(({ url }) => url)],
  })
  resources.defer(() => upstream.close())
  const { apiKey, secret } = await setUp(environment, receiver.url)
  const webhooks = new Set<string>()
  const note = noteWebhook({ secret, ledger, webhooks, clocksJump })
  receiver.behave(receiveWebhook(note, createRandom(seed + 1)))

  await Promise.all(all.map((node) => node.start()))
  const load = startLoad({
    nodes: withApi,
    apiKey,
    ledger,
    random: createRandom(seed + 2),
    clients: 12,
    pauseMilliseconds: 400,
  })
  resources.defer(() => load.stop())
  const result = await act({ nodes: all, load, upstream, nodeClockFile, ledger, random: createRandom(seed) })

  load.stopSending()
  await settle({ nodes: all, load, upstream, webhooks }, settleSeconds)
  await load.stop()
  await upstream.close()
  await readEndState({ url: first.url, apiKey, ledger }, load)
  for (const node of all) await node.stop()
  await ledger.close()

  const entries = readLedger(ledgerFolder)
  return { entries, violations: check(entries), result }
}

interface NodeOptions extends Pick<ServiceOptions, 'roles'> {
  environment: Record<string, string>
  nodeClockFile: string
  ledgerFolder: string
  ledger: LedgerWriter
}

/** Those with an API come first. */
async function createNodes({
  environment,
  nodeClockFile,
  ledgerFolder,
  roles,
  ledger,
}: NodeOptions): Promise<{ all: Nodes; withApi: Nodes }> {
  const create = async (role: string, index: number) => {
    const own = {
      NODE_OPTIONS: ['note-answers.ts', 'jumping-clock.ts']
        .map((file) => `--import=${path.join(import.meta.dirname, file)}`)
        .join(' '),
      CHAOS_CLOCK_FILE: nodeClockFile,
      CHAOS_ANSWERS_FILE: path.join(ledgerFolder, `answers-${index}.jsonl`),
    }
    return new ChaosNode(index, await freePort(), { ...environment, ...own }, ['--role', role], ledger)
  }
  const [role, ...otherRoles] = roles
  const first = await create(role, 0)
  const others: ChaosNode[] = []
  for (const each of otherRoles) others.push(await create(each, others.length + 1))
  return { all: [first, ...others], withApi: [first, ...others.filter((_, index) => otherRoles[index] !== 'worker')] }
}

async function setUp(environment: Record<string, string>, url: string): Promise<{ apiKey: string; secret: string }> {
  const app = openApp(environment)
  try {
    const { accountId, apiKey } = await createCustomer(app, sender)
    // The processes would check the account later, and send marketing templates by /messages until then.
    for (const { id } of await findWhatsAppAccounts(app.deps.db, accountId))
      await checkNow(app.deps, { accountId, whatsAppAccountId: id })
    const { secret } = await addEndpoint(app.deps, accountId, { url, events: messageEventTypes })
    return { apiKey, secret }
  } finally {
    await app.close()
  }
}

/** Responds to some webhooks with 500 or too late, so that they are retried. */
function receiveWebhook(
  note: (received: ReceivedWebhook) => (answer: WebhookAnswer) => void,
  random: Random,
): Behaviour {
  return (received, response, request) => {
    const noteAnswer = note(received)
    response.once('close', () =>
      noteAnswer({
        status: response.writableFinished ? response.statusCode : undefined,
        milliseconds: performance.now() - received.at,
      }),
    )
    if (random.chance(0.03)) respond(500)(received, response, request)
    else if (random.chance(0.01)) setTimeout(() => accept(received, response, request), 1_500)
    else accept(received, response, request)
  }
}

interface WebhookNotes {
  secret: string
  ledger: LedgerWriter
  /** IDs of the received events. */
  webhooks: Set<string>
  /** With clock jumps, a signature's timestamp may be off, so only the signature itself is verified. */
  clocksJump: boolean
}

function noteWebhook({
  secret,
  ledger,
  webhooks,
  clocksJump,
}: WebhookNotes): (received: ReceivedWebhook) => (answer: WebhookAnswer) => void {
  const verifier = new Webhook(secret)
  const verify = ({ id, headers, body }: ReceivedWebhook): { verified: boolean; problem?: string } => {
    try {
      verifier.verify(body, headers as Record<string, string>)
      return { verified: true }
    } catch (error) {
      const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000)
      const signatures = String(headers['webhook-signature']).split(' ')
      const verified = clocksJump && signatures.includes(verifier.sign(id, signedAt, body))
      return { verified, problem: String(error) }
    }
  }
  return (received) => {
    webhooks.add(received.id)
    const event = JSON.parse(received.body) as MessageEvent
    const verification = verify(received)
    const [node = -1, life = -1] = String(received.headers['x-chaos-life']).split(' ').map(Number)
    const about = { eventId: received.id, ...verification, event, sender: { node, life } }
    return (answer) => ledger.write({ kind: 'webhook', ...about, answer })
  }
}

interface Settling {
  nodes: readonly ChaosNode[]
  load: Load
  upstream: Upstream
  webhooks: ReadonlySet<string>
}

/**
 * Waits until all expected work is done or nothing has progressed for the given time; the checks report what is
 * missing.
 */
async function settle({ nodes, load, upstream, webhooks }: Settling, seconds: number): Promise<void> {
  let progress = ''
  let endsAt = 0
  const until = async (isQuiet: (upstream: UpstreamReply) => boolean) => {
    for (;;) {
      const reply = await upstream.status()
      const now = `${reply.acknowledged} ${load.unanswered.size} ${load.followed.size} ${webhooks.size}`
      if (now !== progress) endsAt = Date.now() + seconds * 1000
      progress = now
      if (isQuiet(reply) || Date.now() > endsAt) return
      await delay(200)
    }
  }
  await until(() => nodes.every(({ state }) => state === 'up'))
  await until(({ outstanding, undecided }) => outstanding === 0 && load.unanswered.isSubsetOf(new Set(undecided)))
  const reportedAt = Date.now()
  await until(() => load.caughtUpAt() > reportedAt && load.followed.isSubsetOf(webhooks))
}
