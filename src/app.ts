import type { Deps } from './deps.ts'
import { createMediaServices } from './media/services.ts'
import { noSendJournal } from './messages/send-journal.ts'
import { type Config, readOrCreateSecretKey } from './platform/config.ts'
import { createNotifications } from './platform/db/notifications.ts'
import { openDatabase } from './platform/db/database.ts'
import { createMailTransport } from './platform/email/transport.ts'
import { createRandomPool, encodeId } from './platform/ids.ts'
import { createLogger, type Logger } from './platform/log.ts'
import { useProxiesForFetch } from './platform/proxy.ts'
import { createSecretBox } from './platform/secrets.ts'
import type { Tracing } from './platform/telemetry/tracing.ts'
import { createWebhookSender, traceWebhookSender } from './webhooks/sender/sender.ts'
import { createCloudApi } from './whatsapp/client/cloud-api.ts'
import type { WhatsApp } from './whatsapp/whatsapp.ts'

export interface App {
  config: Config
  deps: Deps
  close(): Promise<void>
}

const idRandomBytes = 10

/** Builds the real dependencies. */
export function buildApp(
  config: Config,
  options: { whatsapp?: WhatsApp; log?: Logger; tracing?: Tracing | undefined } = {},
): App {
  const { tracing } = options
  const randomBytes = createRandomPool()
  const log = options.log ?? createLogger(config.logLevel)
  const db = openDatabase(config.database, log, tracing)
  const whatsapp = options.whatsapp ?? createCloudApi({ ...config.graphApi, tracing, proxies: config.proxies })
  const sender = createWebhookSender(config.webhooks, { proxies: config.proxies })
  const webhooks = tracing ? traceWebhookSender(sender, tracing) : sender
  const media = createMediaServices(config.media, config.webhooks, config.proxies)
  const stopUsingProxies = useProxiesForFetch(config.proxies)
  const notifications = createNotifications(config.database, db, log)
  const deps: Deps = {
    db,
    whatsapp,
    webhooks,
    media,
    notifications,
    // The server opens a journal when it starts. A command that sends a test message has none.
    sendJournal: noSendJournal,
    secrets: createSecretBox(secretKeysOf(config), randomBytes),
    now: () => new Date(),
    newId: (prefix, at) => encodeId(prefix, at?.getTime() ?? Date.now(), randomBytes(idRandomBytes)),
    randomBytes,
    log,
    tracing,
    mail: config.smtp && createMailTransport(config.smtp),
    graphVersion: config.graphApi.version,
    callbacks: { ...config.meta, baseUrl: findCallbackBase(config) },
    publicUrl: config.publicUrl ?? ownUrl(config),
    proxies: config.proxies,
    quotas: config.quotas,
    requestLogDays: Math.min(config.requestLogDays, config.retentionDays),
  }
  return {
    config,
    deps,
    close: async () => {
      await whatsapp.close()
      await webhooks.close()
      await media.close()
      await notifications.close()
      await db.destroy()
      stopUsingProxies()
    },
  }
}

/** Returns a URL for a browser on this machine, because a wildcard address cannot be opened. */
function ownUrl({ host, port }: Config): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** WhatsApp calls only https URLs. A simulator on this machine can also call this server over http. */
function findCallbackBase(config: Config): string | undefined {
  if (config.publicUrl?.startsWith('https:') === true) return config.publicUrl
  const { hostname } = new URL(config.graphApi.url)
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? ownUrl(config) : undefined
}

function secretKeysOf(config: Config): readonly [Uint8Array, ...Uint8Array[]] {
  if (config.secretKeys) return config.secretKeys
  if (config.database.kind === 'pglite') return readOrCreateSecretKey(config.database.dataDir)
  throw new Error('the configuration has DATABASE_URL without WAYBILL_SECRET_KEY')
}
