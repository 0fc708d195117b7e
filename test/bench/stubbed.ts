/**
 * Process: our own server with one part stubbed. `handler`: the route with authentication without a database and an
 * empty handler. `database <upstream URL>`: the complete send with fixed results for each statement.
 */
import { randomBytes } from 'node:crypto'
import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'
import { nameOf } from '../../src/platform/db/statement.ts'
import { sendMessage } from '../../contracts/api/message.ts'
import { accessTokenPurpose } from '../../src/whatsapp-accounts/secrets.ts'
import { buildApp } from '../../src/app.ts'
import type { Deps } from '../../src/deps.ts'
import { apiHandlers } from '../../src/http/api/handlers.ts'
import { createServer } from '../../src/http/server.ts'
import { readConfig } from '../../src/platform/config.ts'
import { templateComponents } from './example.ts'

/** The rows that PostgreSQL would return for these parameters. */
type Answer = (parameters: readonly unknown[]) => object[]

/** A database stub that returns fixed rows for each named statement, and no rows for any other. */
function openNoDatabase(responses: Readonly<Record<string, Answer>>): Kysely<Database> {
  const response = ({ sql, parameters }: CompiledQuery) => responses[nameOf(sql) ?? '']?.(parameters) ?? []
  const connection: DatabaseConnection = {
    // Kysely leaves the row type to each dialect.
    executeQuery: async <R>(query: CompiledQuery) => ({ rows: response(query) as R[] }),
    streamQuery: () => {
      throw new Error('streaming is not supported')
    },
  }
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: () => Promise.resolve(connection) }),
    },
  })
}

/** For a batched statement: the same row for each item, under its index. */
function each(row: object): Answer {
  return ([questions]) => listOf(questions).map((_, index) => ({ ...row, n: index + 1 }))
}

/** A parameter that holds a value for each item. */
function listOf(parameter: unknown): unknown[] {
  if (typeof parameter === 'string') return parameter.slice(1, -1).split(',')
  if (!Array.isArray(parameter)) throw new Error('expected a list parameter: the statement has changed')
  return parameter
}

const [part, upstreamUrl = 'http://127.0.0.1:1'] = process.argv.slice(2)

const app = buildApp(
  readConfig({
    // Never connected to.
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    WAYBILL_SECRET_KEY: randomBytes(32).toString('base64'),
    GRAPH_API_URL: upstreamUrl,
    LOG_LEVEL: 'warn',
  }),
)
const { secrets } = app.deps
const whatsAppAccountId = 'wa_01kah39zr4e8m5n6p7q8s9t0vw'

const caller = {
  account_id: 'acc_01kah39zr4e8m5n6p7q8s9t0vw',
  api_enabled: true,
  address_allowed: true,
  rate_limit_per_minute: 1_000_000,
  used: 1,
  reset_seconds: 60,
}

const sendFacts = {
  whatsapp_account_id: whatsAppAccountId,
  phone_number_id: '106540352242922',
  waba_id: '102290129340398',
  access_token_encrypted: secrets.encrypt(randomBytes(100).toString('hex'), accessTokenPurpose(whatsAppAccountId)),
  switched_off: false,
  inactive_reason: null,
  inactive_fact: null,
  template_status: 'APPROVED',
  parameter_format: 'POSITIONAL',
  components: templateComponents,
  emits_sent_event: false,
}

const deps: Deps = {
  ...app.deps,
  db: openNoDatabase({
    find_caller: () => [caller],
    find_callers: each(caller),
    find_send_facts: () => [sendFacts],
    find_many_send_facts: each(sendFacts),
    record_pending: () => [{ on_time: true, clock: Date.now() }],
    record_many_unclaimed: () => [{ on_time: true, clock: Date.now() }],
    record_many_pending: ([, ids]) => [{ on_time: true, clock: Date.now(), ids: listOf(ids).join(' ') }],
  }),
}

if (part === 'handler') Object.assign(apiHandlers.message, { send: () => Promise.resolve(sendMessage.example.output) })
const server = await createServer(deps, {
  trustedProxies: [],
  metricsToken: undefined,
  sandbox: false,
  readState: () => 'serving',
})
console.log(`listens on ${await server.listen({ host: '127.0.0.1', port: 0 })}`)
