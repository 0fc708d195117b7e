import type { Selectable, Updateable } from 'kysely'
import type { Deps } from '../../src/deps.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import type { TestServer } from './server.ts'

/** Changes what is stored about the health of a WhatsApp account. */
export async function setHealth(
  { db }: Pick<Deps, 'db'>,
  { whatsAppAccountId }: { whatsAppAccountId: string },
  values: Updateable<Database['whatsapp_account_health']>,
): Promise<void> {
  const update = db.updateTable('whatsapp_account_health').set(values)
  await update.where('whatsapp_account_id', '=', whatsAppAccountId).execute()
}

/** What is stored about the health of a WhatsApp account. */
export function readStoredHealth(
  { db }: Pick<Deps, 'db'>,
  { whatsAppAccountId }: { whatsAppAccountId: string },
): Promise<Selectable<Database['whatsapp_account_health']>> {
  const query = db.selectFrom('whatsapp_account_health').selectAll()
  return query.where('whatsapp_account_id', '=', whatsAppAccountId).executeTakeFirstOrThrow()
}

let apps = 0

/** Adds an app of Meta with this secret, and returns its ID. */
export function addApp({ simulator }: TestServer, secret: string): string {
  const id = `30000000000${++apps}`
  simulator.addApp({ id, name: `App ${apps}`, secret })
  return id
}
