import type { Kysely } from 'kysely'
import type { SendJournal } from './messages/send-journal.ts'
import type { MediaServices } from './media/services.ts'
import type { Quotas } from './platform/config.ts'
import type { Notifications } from './platform/db/notifications.ts'
import type { Database } from './platform/db/schema.ts'
import type { MailTransport } from './platform/email/transport.ts'
import type { IdPrefix } from './platform/ids.ts'
import type { Logger } from './platform/log.ts'
import type { ProxySettings } from './platform/proxy.ts'
import type { SecretBox } from './platform/secrets.ts'
import type { Tracing } from './platform/telemetry/tracing.ts'
import type { WebhookSender } from './webhooks/sender/webhook-sender.ts'
import type { WhatsApp } from './whatsapp/whatsapp.ts'

/** The dependencies with side effects. A handler takes only those that it uses. */
export interface Deps {
  db: Kysely<Database>
  whatsapp: WhatsApp
  webhooks: WebhookSender
  media: MediaServices
  notifications: Notifications
  sendJournal: SendJournal
  secrets: SecretBox
  now: () => Date
  /** `at` is the time in the ID; the current time by default. */
  newId: (prefix: IdPrefix, at?: Date) => string
  randomBytes: (size: number) => Uint8Array
  log: Logger
  /** Undefined while tracing is off. */
  tracing?: Tracing | undefined
  /** The SMTP server; if undefined, no email may be enqueued. */
  mail: MailTransport | undefined
  callbacks: CallbackSettings
  /** The version of the Graph API in use. */
  graphVersion: string
  /** Address of the dashboard in browsers, such as `https://waybill.example.com`, used as the prefix of links. */
  publicUrl: string
  /** Undefined if requests go directly to their servers. */
  proxies?: ProxySettings | undefined
  quotas: Quotas
  /** Minimum number of days for which API requests are kept. */
  requestLogDays: number
}

/** How WhatsApp's callbacks reach this server and are verified. */
interface CallbackSettings {
  /** App secret for numbers without one of their own. */
  appSecret: string | undefined
  /** Verify token that Meta must present in the handshake. */
  verifyToken: string | undefined
  /** Base URL at which WhatsApp can reach this server; undefined if none is known. */
  baseUrl: string | undefined
}
