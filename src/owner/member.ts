import type { Kysely } from 'kysely'
import type { Role } from '../../contracts/settings/procedure.ts'
import { OperatorError } from '../account/operator-error.ts'
import type { Database } from '../db/schema.ts'
import { findMembers } from './store.ts'

/** The person with this e-mail address in the account, however it is capitalized. */
export async function requireMember(
  db: Kysely<Database>,
  accountId: string,
  email: string,
): Promise<{ ownerId: string; email: string; role: Role }> {
  const members = await findMembers(db, accountId)
  const member = members.find((candidate) => candidate.email === email.trim().toLowerCase())
  if (!member)
    throw new OperatorError(`Nobody in ${accountId} has the e-mail address ${JSON.stringify(email)}.`, {
      missing: true,
      remedy: `Who is in it is listed by: waybill owner list ${accountId}`,
    })
  return member
}
