import type { Kysely } from 'kysely'
import { ServiceError } from '../../contracts/errors.ts'
import type { Database } from '../platform/db/schema.ts'
import { findMembers } from './store.ts'

type Member = Awaited<ReturnType<typeof findMembers>>[number]

/** Returns the user with this email address in the account, ignoring case; throws if there is none. */
export async function requireMember(db: Kysely<Database>, accountId: string, email: string): Promise<Member> {
  const member = await findMember(db, accountId, email)
  if (!member) throw memberNotFound(accountId, email)
  return member
}

export async function findMember(db: Kysely<Database>, accountId: string, email: string): Promise<Member | undefined> {
  const members = await findMembers(db, accountId)
  return members.find((member) => member.email === normalizeEmail(email))
}

export function memberNotFound(accountId: string, email: string): ServiceError {
  return new ServiceError('NOT_FOUND', `No user in ${accountId} has the email address ${JSON.stringify(email)}.`, {
    remedy: `List its users: waybill owner list ${accountId}`,
  })
}

/** Returns the address as it is stored. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase()
}
