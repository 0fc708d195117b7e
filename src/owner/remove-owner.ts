import { requireAccount } from '../account/account.ts'
import type { Deps } from '../deps.ts'
import { requireMember } from './member.ts'
import { deleteOwnerWithoutRole, deleteRole, deleteSessions } from './store.ts'

/** Ends the sessions too; a person who has no other account is forgotten. */
export async function removeOwner({ db }: Pick<Deps, 'db'>, accountId: string, email: string): Promise<void> {
  await requireAccount(db, accountId)
  const { ownerId } = await requireMember(db, accountId, email)
  await deleteRole(db, accountId, ownerId)
  await deleteSessions(db, ownerId)
  await deleteOwnerWithoutRole(db, ownerId)
}
