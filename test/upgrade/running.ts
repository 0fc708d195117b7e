import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { run, withDatabase } from '../support/postgres.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import {
  type Behaviour,
  type ReceivedWebhook,
  respond,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'
import { currentRoot } from './previous-version.ts'

/** The installation of the version before, running beside WhatsApp and a receiver of webhooks. */
export interface Running extends AsyncDisposable {
  databaseUrl: string
  environment: Record<string, string>
  simulator: Simulator
  receiver: WebhookReceiver
  /** The webhooks that were answered with 200. */
  accepted: ReadonlySet<ReceivedWebhook>
  /** The endpoint that rejected webhooks accepts them from now on. */
  letRecover(): void
  /** How often WhatsApp accepted each message, by the ID that Waybill gave it. */
  acceptedByWhatsApp: ReadonlyMap<string, number>
  old: ServeProcess
  startNew(): Promise<ServeProcess>
  /** Callbacks of WhatsApp go to this server from now on. */
  reportTo(server: ServeProcess): void
}

export async function startRunning(extra: Record<string, string> = {}): Promise<Running> {
  const { adminUrl, template, environment: installed, appSecret, receiverPort, root } = inject('installed')
  await using started = new AsyncDisposableStack()
  const name = `waybill_upgrade_${randomBytes(6).toString('hex')}`
  await run(adminUrl, `create database ${name} template ${template}`)
  started.defer(() => run(adminUrl, `drop database ${name} with (force)`))
  const databaseUrl = withDatabase(adminUrl, name)
  const acceptedByWhatsApp = new Map<string, number>()
  const simulator = await startSimulator({
    onAccepted: ({ callbackData = '' }) =>
      acceptedByWhatsApp.set(callbackData, (acceptedByWhatsApp.get(callbackData) ?? 0) + 1),
  })
  started.defer(() => simulator.stop())
  const receiver = await startWebhookReceiver({ port: receiverPort })
  started.defer(() => receiver.close())
  const accepted = new Set<ReceivedWebhook>()
  const accepts: Behaviour = (webhook, response) => {
    accepted.add(webhook)
    response.end('ok')
  }
  receiver.behave(accepts)
  receiver.behave(respond(503), '/recovers')
  const environment = { ...installed, DATABASE_URL: databaseUrl, GRAPH_API_URL: simulator.url, ...extra }
  const servers: ServeProcess[] = []
  started.defer(async () => {
    for (const server of servers) server.kill('SIGKILL')
    await Promise.all(servers.map(({ exited }) => exited))
  })
  const start = async (of: string) => {
    const server = await startServe(environment, [], undefined, of)
    servers.push(server)
    return server
  }
  const reportTo = ({ url }: ServeProcess) => simulator.reportTo({ url: `${url}/webhooks/whatsapp`, appSecret })
  const old = await start(root)
  reportTo(old)
  const resources = started.move()
  return {
    databaseUrl,
    environment,
    simulator,
    receiver,
    accepted,
    letRecover: () => receiver.behave(accepts, '/recovers'),
    acceptedByWhatsApp,
    old,
    startNew: () => start(currentRoot),
    reportTo,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
