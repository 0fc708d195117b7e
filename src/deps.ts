import type { Kysely } from 'kysely'
import type { SendJournal } from './messages/journal/journal.ts'
import type { Announcements } from './platform/db/announcements.ts'
import type { Database } from './platform/db/schema.ts'
import type { IdPrefix } from './platform/ids.ts'
import type { Logger } from './platform/log.ts'
import type { SecretBox } from './platform/secrets.ts'
import type { WebhookSender } from './webhooks/delivery/webhook-sender.ts'
import type { WhatsApp } from './whatsapp/whatsapp.ts'

/** Everything that reaches outside: a verb takes the part of it that it needs. */
export interface Deps {
  db: Kysely<Database>
  whatsapp: WhatsApp
  webhooks: WebhookSender
  announcements: Announcements
  journal: SendJournal
  secrets: SecretBox
  now: () => Date
  /** `at`: the time that the id carries; now, unless given. */
  newId: (prefix: IdPrefix, at?: Date) => string
  randomBytes: (size: number) => Uint8Array
  log: Logger
  /** Where browsers find the dashboard, such as `https://waybill.example.com`: links begin with it. */
  publicUrl: string
}
