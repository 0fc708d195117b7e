import type { Kysely } from 'kysely'
import type { Database } from './db/schema.ts'
import type { IdPrefix } from './ids.ts'
import type { SecretBox } from './secret-box.ts'
import type { Logger } from './telemetry.ts'
import type { WhatsApp } from './whatsapp/whatsapp.ts'

/** Everything that reaches outside: a verb takes the part of it that it needs. */
export interface Deps {
  db: Kysely<Database>
  whatsapp: WhatsApp
  secrets: SecretBox
  now: () => Date
  newId: (prefix: IdPrefix) => string
  randomBytes: (size: number) => Uint8Array
  log: Logger
}
