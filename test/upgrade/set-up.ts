import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { freePort, run, startPostgres, withDatabase } from '../support/postgres.ts'
import { checkOutPrevious, runCommand } from './previous-version.ts'

/** An installation of the version before with a customer, in a database that each test copies. */
export interface Installed {
  root: string
  adminUrl: string
  template: string
  /** The environment of its processes, without the database and WhatsApp. */
  environment: Record<string, string>
  appSecret: string
  accountId: string
  apiKey: string
  /** An endpoint that accepts webhooks, and one that rejects them until a test lets it recover. */
  endpoints: { path: string; events: string[]; secret: string }[]
  receiverPort: number
}

declare module 'vitest' {
  interface ProvidedContext {
    installed: Installed
  }
}

const template = 'waybill_previous'
/** Few for the endpoint that rejects them at first, because Waybill approaches it slowly. */
const eventsOf = { '/accepts': ['message.sent', 'message.delivered', 'message.read'], '/recovers': ['message.read'] }

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using started = new AsyncDisposableStack()
  const previous = await checkOutPrevious()
  started.defer(() => previous.remove())
  // Logs of PostgreSQL would show a deadlock or a lock wait; these settings are its defaults.
  const server = await startPostgres({ flags: ['-c', 'fsync=off', '-c', 'max_wal_size=256MB'] })
  started.defer(() => server.stop())
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-upgrade-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  await run(server.url, `create database ${template}`)
  const appSecret = randomBytes(16).toString('hex')
  const environment = {
    WAYBILL_DATA_DIR: folder,
    WAYBILL_SECRET_KEY: randomBytes(32).toString('base64'),
    META_APP_SECRET: appSecret,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  }
  const receiverPort = await freePort()
  const customer = await createCustomer(previous.root, {
    ...environment,
    DATABASE_URL: withDatabase(server.url, template),
    RECEIVER_URL: `http://127.0.0.1:${receiverPort}`,
  })
  project.provide('installed', {
    root: previous.root,
    adminUrl: server.url,
    template,
    environment,
    appSecret,
    receiverPort,
    ...customer,
  })
  const resources = started.move()
  return () => resources.disposeAsync()
}

type Customer = Pick<Installed, 'accountId' | 'apiKey' | 'endpoints'>

async function createCustomer(root: string, environment: Record<string, string>): Promise<Customer> {
  const simulator = await startSimulator()
  const run = (...args: string[]) => runCommand(root, { ...environment, GRAPH_API_URL: simulator.url }, ...args)
  try {
    await run('migrate')
    const { accountId = '' } = await run('account', 'create', '--name', 'Ada & Co')
    const settings = ['--rate-limit', '1000000', '--message-contents', '30']
    await run('account', 'update', accountId, ...settings)
    const { apiKey = '' } = await run('key', 'generate', accountId)
    const { phoneNumberId, wabaId, accessToken } = simulator
    const number = ['--phone-number-id', phoneNumberId, '--waba-id', wabaId, '--access-token', accessToken]
    await run('whatsapp', 'add', accountId, ...number)
    await run('template', 'sync', accountId)
    const endpoints: Customer['endpoints'] = []
    for (const [name, events] of Object.entries(eventsOf)) {
      const url = `${environment['RECEIVER_URL']}${name}`
      const { secret = '' } = await run('webhook', 'add', accountId, '--url', url, '--events', events.join())
      endpoints.push({ path: name, events, secret })
    }
    return { accountId, apiKey, endpoints }
  } finally {
    await simulator.stop()
  }
}
