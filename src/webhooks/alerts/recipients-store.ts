import type { Kysely } from 'kysely'
import type { Role } from '../../../contracts/procedure.ts'
import type { Database } from '../../platform/db/schema.ts'

interface Recipient {
  accountId: string
  accountName: string
  email: string
}

/** Returns the members of these accounts who receive alerts by email. */
export function findRecipients(db: Kysely<Database>, accountIds: readonly string[]): Promise<Recipient[]> {
  return db
    .selectFrom('owner_roles')
    .innerJoin('owners', 'owners.id', 'owner_roles.owner_id')
    .innerJoin('accounts', 'accounts.id', 'owner_roles.account_id')
    .select(['owner_roles.account_id as accountId', 'accounts.name as accountName', 'owners.email'])
    .where('owner_roles.account_id', 'in', accountIds)
    .where('owner_roles.alert_emails', '=', true)
    .orderBy('owners.email')
    .execute()
}

interface MemberPreference {
  userId: string
  email: string
  role: Role
  receives: boolean
}

/** Returns all members of an account and whether they receive alert emails. */
export function findMemberPreferences(db: Kysely<Database>, accountId: string): Promise<MemberPreference[]> {
  return db
    .selectFrom('owner_roles')
    .innerJoin('owners', 'owners.id', 'owner_roles.owner_id')
    .select(['owners.id as userId', 'owners.email', 'owner_roles.role', 'owner_roles.alert_emails as receives'])
    .where('owner_roles.account_id', '=', accountId)
    .orderBy('owners.email')
    .execute()
}

export async function saveMemberPreference(
  db: Kysely<Database>,
  { accountId, userId }: { accountId: string; userId: string },
  receives: boolean,
): Promise<void> {
  await db
    .updateTable('owner_roles')
    .set({ alert_emails: receives })
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .execute()
}

/** Deletes the waiting alert emails of a recipient. */
export async function deleteWaitingAlertEmails(db: Kysely<Database>, accountId: string, email: string): Promise<void> {
  await db
    .deleteFrom('emails')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'alert')
    .where('recipient', '=', email)
    .execute()
}
