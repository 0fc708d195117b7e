import type { AlertRecipients } from '../../../contracts/dashboard/alert.ts'
import type { Deps } from '../../deps.ts'
import { deleteWaitingAlertEmails, findMemberPreferences, saveMemberPreference } from './recipients-store.ts'

interface SignedInMember {
  accountId: string
  userId: string
}

/** Returns whether a member receives alerts by email. Owners also see the preferences of the other members. */
export async function getAlertRecipients(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  { accountId, userId }: SignedInMember,
): Promise<AlertRecipients> {
  const members = await findMemberPreferences(db, accountId)
  const self = members.find((member) => member.userId === userId)
  return {
    emails: mail !== undefined,
    receives: self?.receives === true,
    ...(self?.role === 'owner' && { members: members.map(({ email, receives }) => ({ email, receives })) }),
  }
}

/** Changes the preference of this member only. Alert emails that are still waiting are not sent to them. */
export async function setAlertEmails(
  deps: Pick<Deps, 'db' | 'mail'>,
  { email, ...member }: SignedInMember & { email: string },
  receives: boolean,
): Promise<AlertRecipients> {
  await deps.db.transaction().execute(async (trx) => {
    await saveMemberPreference(trx, member, receives)
    if (!receives) await deleteWaitingAlertEmails(trx, member.accountId, email)
  })
  return getAlertRecipients(deps, member)
}
