import { requireAccount } from '../account/account.ts'
import type { Deps } from '../deps.ts'
import { findMember, nobody, normalizeEmail } from './member.ts'
import { deleteInvitation, deleteOwnerWithoutRole, deleteRole, deleteSessions } from './store.ts'

/**
 * Takes back what was given: the role or, from who has not accepted it yet, the invitation. Ends the
 * person's sessions too; one who has no other account is forgotten.
 */
export async function removeOwner({ db }: Pick<Deps, 'db'>, accountId: string, email: string): Promise<void> {
  await requireAccount(db, accountId)
  const wasInvited = await deleteInvitation(db, accountId, normalizeEmail(email))
  const member = await findMember(db, accountId, email)
  if (!member && wasInvited) return
  if (!member) throw nobody(accountId, email)
  const { ownerId } = member
  await deleteRole(db, accountId, ownerId)
  await deleteSessions(db, ownerId)
  await deleteOwnerWithoutRole(db, ownerId)
}
