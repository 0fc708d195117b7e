import { randomBytes, createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { Registry } from 'prom-client'
import { request } from 'undici'
import { createAccount } from '../../src/accounts/account.ts'
import { generateKey } from '../../src/accounts/api-key.ts'
import { addWhatsAppAccount, type NewWhatsAppAccount } from '../../src/whatsapp-accounts/add.ts'
import { RequestLog, type RequestLogLimits } from '../../src/accounts/requests/request-log.ts'
import { createClient, type WaybillClient } from '../../src/client/client.ts'
import type { Deps } from '../../src/deps.ts'
import { countSends, registerRequestLogMetric } from '../../src/http/ops/metrics.ts'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { noSendJournal } from '../../src/messages/send-journal.ts'
import { createLocalNotifications } from '../../src/platform/db/notifications.ts'
import { encodeId } from '../../src/platform/ids.ts'
import { createLogger } from '../../src/platform/log.ts'
import { createSecretBox } from '../../src/platform/secrets.ts'
import { syncTemplates } from '../../src/templates/sync.ts'
import { createWebhookSender } from '../../src/webhooks/sender/sender.ts'
import { createCloudApi } from '../../src/whatsapp/client/cloud-api.ts'
import { newestVersion } from '../../src/whatsapp/graph-versions.ts'
import { demoTemplates } from '../../src/whatsapp/simulator/templates/demo-templates.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { forTest } from './lifetime.ts'
import { createTestMedia } from './media.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import type { NewTemplate } from '../../src/whatsapp/simulator/templates/template-list.ts'
import type { PasswordHashing } from '../../src/users/sign-in/password-hashing.ts'

/** A real server on a real database that uses the simulator as WhatsApp. */
export interface TestServer {
  url: string
  deps: Deps
  database: TestDatabase
  simulator: Simulator
  /** All logged lines. */
  log: string[]
  /** Creates a customer with an API key and a WhatsApp account that has the demo templates. */
  account(options?: { rateLimit?: number }): Promise<TestAccount>
  request(method: string, path: string, options?: RequestOptions): Promise<TestResponse>
  close(): Promise<void>
}

export interface RequestOptions {
  headers?: Record<string, string>
  body?: string | Buffer
}

export interface TestResponse {
  statusCode: number
  headers: Record<string, string | string[] | undefined>
  text: string
  json(): TestBody
}

/** Fields that responses may contain; each test names those it expects. */
interface TestBody {
  success: boolean
  data: Record<string, unknown>
  /** Absent on success; only tests of a failure read it. */
  error: { code: string; message: string }
}

export interface TestAccount {
  accountId: string
  apiKey: string
  /** The default WhatsApp account. */
  whatsAppAccountId: string
  phoneNumberId: string
  wabaId: string
  trpc: WaybillClient
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<TestResponse>
  /** Sends a body unchanged, such as one that is too deep for JSON.stringify. */
  postText(path: string, body: string, headers?: Record<string, string>): Promise<TestResponse>
  get(path: string, headers?: Record<string, string>): Promise<TestResponse>
  /** Adds another WhatsApp account for this customer without making it the default. */
  addWhatsAppAccount(options?: Partial<NewWhatsAppAccount>): Promise<string>
  /** Adds a template to WhatsApp and syncs. */
  template(template: NewTemplate): Promise<void>
}

export interface TestServerOptions {
  server?: Partial<ServerOptions>
  deps?: Partial<Deps>
  sendDeadlineMilliseconds?: number
  /** Records the requests of the API, with these limits. */
  requestLog?: Partial<RequestLogLimits>
  /** Another server whose database and simulator this node shares. */
  beside?: TestServer
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const database = options.beside?.database ?? (await openTestDatabase())
  const simulator = options.beside?.simulator ?? (await startSimulator())
  const log: string[] = []
  const whatsapp = createCloudApi({
    url: simulator.url,
    version: 'v25.0',
    ...(options.sendDeadlineMilliseconds !== undefined && { timeouts: { sendMs: options.sendDeadlineMilliseconds } }),
  })
  const webhooks = createWebhookSender({ timeoutSeconds: 15, allowPrivate: true })
  const media = createTestMedia()
  const registry = options.server?.registry ?? new Registry()
  const deps: Deps = {
    db: database.db,
    media,
    whatsapp: countSends(whatsapp, registry),
    webhooks,
    mail: undefined,
    graphVersion: newestVersion,
    notifications: options.beside?.deps.notifications ?? createLocalNotifications(),
    sendJournal: noSendJournal,
    secrets: options.beside?.deps.secrets ?? createSecretBox([randomBytes(32)], randomBytes),
    now: () => new Date(),
    newId: (prefix, at) => encodeId(prefix, at?.getTime() ?? Date.now(), randomBytes(10)),
    randomBytes,
    quotas: { suppressions: 1_000_000, templates: 10_000, savedViews: 30 },
    requestLogDays: 7,
    publicUrl: 'https://waybill.example.com',
    callbacks: { appSecret: 'test-app-secret', verifyToken: 'test-verify-token', baseUrl: undefined },
    log: createLogger('debug', new Writable({ write: (chunk, _encoding, done) => (log.push(String(chunk)), done()) })),
    ...options.deps,
  }
  const requestLog =
    options.requestLog &&
    new RequestLog(deps.db, {
      log: deps.log,
      onDropped: registerRequestLogMetric(registry),
      limits: options.requestLog,
    })
  const server = await createServer(deps, {
    trustedProxies: [],
    metricsToken: undefined,
    sandbox: true,
    // On a busy machine, a callback that takes long is not left to Meta to send again.
    callbacks: { handlingMilliseconds: 600_000, ...deps.callbacks },
    readState: () => 'serving',
    registry,
    requestLog,
    hashing: quickHashing,
    ...options.server,
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  // The simulator reaches the server where it listens.
  deps.callbacks = { ...deps.callbacks, baseUrl: deps.callbacks.baseUrl ?? url }
  return {
    url,
    deps,
    database,
    simulator,
    log,
    account: (accountOptions) => createCustomer({ url, deps, simulator }, accountOptions),
    request: requestsTo(url),
    close: async () => {
      await server.close()
      await requestLog?.stop()
      await whatsapp.close()
      await webhooks.close()
      await deps.media.close()
      await rm(media.folder, { recursive: true, force: true })
      if (options.beside) return
      await simulator.stop()
      await database.close()
    },
  }
}

/** Another node on the database and simulator of a server, until the test ends. */
export function nodeForTest(beside: TestServer, options: Omit<TestServerOptions, 'beside'> = {}): Promise<TestServer> {
  return forTest(startTestServer({ ...options, beside }))
}

/** Returns the number of requests that the server is working on. */
export async function readAtWork(node: Pick<TestServer, 'request'>): Promise<string> {
  const { text } = await node.request('GET', '/metrics')
  return /^waybill_http_requests_at_work (.*)$/m.exec(text)?.[1] ?? 'missing'
}

/** Sends requests to a server by path. */
export function requestsTo(url: string): TestServer['request'] {
  return (method, path, options) => send(method, url + path, options)
}

/** The same customer through another node. */
export function through(server: TestServer, account: TestAccount): Pick<TestAccount, 'post' | 'get' | 'trpc'> {
  return callers(server.url, account.apiKey)
}

async function createCustomer(
  { url, deps, simulator }: Pick<TestServer, 'url' | 'deps' | 'simulator'>,
  { rateLimit = 100_000 }: { rateLimit?: number } = {},
): Promise<TestAccount> {
  const { accountId } = await createAccount(deps, { name: 'Test' })
  await deps.db.updateTable('accounts').set({ rate_limit_per_minute: rateLimit }).where('id', '=', accountId).execute()
  const { apiKey } = await generateKey(deps, accountId)
  const wabaId = randomDigits()
  for (const template of demoTemplates) simulator.templatesOf(wabaId).add(template)
  const connect = async (input: Partial<NewWhatsAppAccount>) => {
    const number = { phoneNumberId: randomDigits(), wabaId, accessToken: randomBytes(16).toString('hex'), ...input }
    simulator.addPhoneNumber(number)
    const { whatsAppAccountId } = await addWhatsAppAccount(deps, accountId, number)
    return { whatsAppAccountId, phoneNumberId: number.phoneNumberId }
  }
  const { whatsAppAccountId, phoneNumberId } = await connect({})
  await syncTemplates(deps, accountId)
  return {
    accountId,
    apiKey,
    whatsAppAccountId,
    phoneNumberId,
    wabaId,
    ...callers(url, apiKey),
    addWhatsAppAccount: async (input = {}) => (await connect(input)).whatsAppAccountId,
    template: async (template) => {
      simulator.templatesOf(wabaId).add({ language: 'en', ...template })
      await syncTemplates(deps, accountId)
    },
  }
}

function callers(url: string, apiKey: string): Pick<TestAccount, 'post' | 'postText' | 'get' | 'trpc'> {
  const postText: TestAccount['postText'] = (path, body, headers = {}) =>
    send('POST', url + path, { headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers }, body })
  return {
    trpc: createClient({ url, apiKey }),
    post: (path, body, headers = {}) => postText(path, JSON.stringify(body), headers),
    postText,
    get: (path, headers = {}) => send('GET', url + path, { headers: { 'x-api-key': apiKey, ...headers } }),
  }
}

async function send(method: string, url: string, { headers = {}, body }: RequestOptions = {}): Promise<TestResponse> {
  const response = await request(url, { method: method as 'GET', headers, ...(body !== undefined && { body }) })
  const text = await response.body.text()
  return { statusCode: response.statusCode, headers: response.headers, text, json: () => JSON.parse(text) as TestBody }
}

function randomDigits(): string {
  return String(100_000_000_000_000n + (randomBytes(8).readBigUInt64BE() % 800_000_000_000_000n))
}

/** Scrypt takes a core 80 ms for each sign-in, which made up most of the time of tests with users. */
const quickHashing: PasswordHashing = {
  hash: (password) => {
    const salt = randomBytes(8).toString('hex')
    return Promise.resolve(`${salt}:${digest(salt, password)}`)
  },
  verify: ({ hash, password }) => {
    const [salt = '', digested] = hash.split(':')
    return Promise.resolve(digested === digest(salt, password))
  },
}

function digest(salt: string, password: string): string {
  return createHash('sha256').update(`${salt}${password}`).digest('hex')
}
