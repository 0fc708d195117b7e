import type { Kysely } from 'kysely'
import { findAccount } from '../account/store.ts'
import { findOwner } from '../account/whatsapp-account-store.ts'
import type { Database } from '../db/schema.ts'
import { audited } from '../owner/audit.ts'
import type { AuditDeps } from '../owner/audit-append.ts'
import { findDelivery } from '../webhook/delivery-store.ts'
import { findEndpointOwner } from '../webhook/endpoint-store.ts'
import { findMessageOwner } from './store.ts'

/** What the first argument of a command can name, and how its account is found. */
const finders: Record<string, (db: Kysely<Database>, id: string) => Promise<string | undefined>> = {
  ACC: async (db, id) => (await findAccount(db, id))?.id,
  WA: findOwner,
  EP: findEndpointOwner,
  MSG: findMessageOwner,
  DLV: async (db, id) => (await findDelivery(db, id))?.accountId,
}

/** Writes a change of an operator's to the audit log of the account that it is about. What is not there has none. */
export async function auditedForOperator<Result>(
  deps: AuditDeps,
  { what, named: [kind = '', id = ''] }: { what: string; named: [kind?: string, id?: string] },
  change: () => Promise<Result>,
): Promise<Result> {
  const accountId = await finders[kind]?.(deps.db, id)
  if (accountId === undefined) return change()
  return audited(deps, { accountId, who: 'operator', what, address: 'command line' }, change)
}
