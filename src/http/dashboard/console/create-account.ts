import { changes } from '../../../../contracts/facts/changes.ts'
import type { createAccount as contract } from '../../../../contracts/dashboard/operator.ts'
import type { InputOf, OutputOf } from '../../../../contracts/procedure.ts'
import { createAccount } from '../../../accounts/account.ts'
import type { Deps } from '../../../deps.ts'
import { appendAuditEntry } from '../../../users/audit/append.ts'
import { announceInvitation, assertMayInvite, createInvitation } from '../../../users/invite-member.ts'

/** Uses one transaction: if the invitation failed, the account would be left without an owner. */
export async function createAccountWithOwner(
  deps: Deps,
  { email: who, address }: { email: string; address: string },
  { name, ownerEmail }: InputOf<typeof contract>,
): Promise<OutputOf<typeof contract>> {
  const created = await deps.db.transaction().execute(async (db) => {
    const within = { ...deps, db }
    const account = await createAccount(within, { name })
    const { accountId } = account
    await appendAuditEntry(within, {
      accountId,
      id: deps.newId('aud'),
      who,
      what: ownerEmail === undefined ? changes.createAccount() : changes.createAccountAndInvite({ email: ownerEmail }),
      address,
      outcome: 'done',
    })
    if (ownerEmail === undefined) return { accountId, name: account.name }
    await assertMayInvite(within, accountId, ownerEmail)
    const { link } = await createInvitation(within, { accountId, invitedBy: who }, { email: ownerEmail, role: 'owner' })
    return { accountId, name: account.name, ...(link !== undefined && { invitationLink: link }) }
  })
  announceInvitation(deps)
  return created
}
