import { type Kysely, sql } from 'kysely'
import { accountTables, auditTables, userTables } from '../baseline/accounts.ts'
import { countTables, messageTables, recipientTables } from '../baseline/messages.ts'
import { operationTables } from '../baseline/operations.ts'
import { webhookTables } from '../baseline/webhooks.ts'
import { whatsAppTables } from '../baseline/whatsapp.ts'

/** Creates the whole schema in an empty database: that of commit 12e9a9b4, whose last migration was 0032. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** Each table comes after those that it refers to. */
const statements = [
  ...accountTables,
  ...userTables,
  ...auditTables,
  ...whatsAppTables,
  ...messageTables,
  ...recipientTables,
  ...countTables,
  ...webhookTables,
  ...operationTables,
]
