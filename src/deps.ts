import type { Kysely } from 'kysely'
import type { SendJournal } from './messages/journal/journal.ts'
import type { MediaServices } from './media/services.ts'
import type { Announcements } from './platform/db/announcements.ts'
import type { Database } from './platform/db/schema.ts'
import type { MailTransport } from './platform/email/transport.ts'
import type { IdPrefix } from './platform/ids.ts'
import type { Logger } from './platform/log.ts'
import type { SecretBox } from './platform/secrets.ts'
import type { Tracing } from './platform/telemetry/tracing.ts'
import type { WebhookSender } from './webhooks/sender/webhook-sender.ts'
import type { WhatsApp } from './whatsapp/whatsapp.ts'

/** The dependencies with side effects. A handler takes only those that it uses. */
export interface Deps {
  db: Kysely<Database>
  whatsapp: WhatsApp
  /** Waits without counting towards the limit of concurrent requests; undefined outside such a request. */
  waitUncounted?: <Result>(wait: () => Promise<Result>) => Promise<Result>
  /** Told of each message that the request causes or repeats; undefined outside a request of the API. */
  noteMessage?: ((messageId: string) => void) | undefined
  webhooks: WebhookSender
  media: MediaServices
  announcements: Announcements
  journal: SendJournal
  secrets: SecretBox
  now: () => Date
  /** `at` is the time in the ID; the current time by default. */
  newId: (prefix: IdPrefix, at?: Date) => string
  randomBytes: (size: number) => Uint8Array
  log: Logger
  /** Undefined while tracing is off. */
  tracing?: Tracing | undefined
  /** The SMTP server; undefined if none is set up, and then nothing may be put into the outbox. */
  mail: MailTransport | undefined
  callbacks: CallbackSettings
  /** Address of the dashboard in browsers, such as `https://waybill.example.com`, used as the prefix of links. */
  publicUrl: string
  /** For how many days API requests are kept at least; undefined if that is not known here. */
  requestLogDays?: number | undefined
}

/** How WhatsApp's callbacks reach this server, and what verifies them. */
interface CallbackSettings {
  /** App secret of numbers without one of their own. */
  appSecret: string | undefined
  /** Verify token that the handshake must present. */
  verifyToken: string | undefined
  /** Base URL at which WhatsApp can reach this server; undefined if none is known. */
  baseUrl: string | undefined
}
