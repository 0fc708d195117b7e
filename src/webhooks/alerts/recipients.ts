import type { AlertRecipients } from '../../../contracts/dashboard/alert.ts'
import type { Deps } from '../../deps.ts'
import { deleteWaitingAlerts, findMemberChoices, saveMemberChoice } from './recipients-store.ts'

/** A member of an account, who is signed in. */
interface SignedInMember {
  accountId: string
  userId: string
}

/** Whether a member gets alerts by email. Owners also see who else does. */
export async function getAlertRecipients(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  { accountId, userId }: SignedInMember,
): Promise<AlertRecipients> {
  const members = await findMemberChoices(db, accountId)
  const self = members.find((member) => member.userId === userId)
  return {
    emails: mail !== undefined,
    receives: self?.receives === true,
    ...(self?.role === 'owner' && { members: members.map(({ email, receives }) => ({ email, receives })) }),
  }
}

/** Changes the choice of the member alone. Alerts that wait for the SMTP server are not sent to them any more. */
export async function setAlertEmails(
  deps: Pick<Deps, 'db' | 'mail'>,
  { email, ...member }: SignedInMember & { email: string },
  receives: boolean,
): Promise<AlertRecipients> {
  await deps.db.transaction().execute(async (trx) => {
    await saveMemberChoice(trx, member, receives)
    if (!receives) await deleteWaitingAlerts(trx, member.accountId, email)
  })
  return getAlertRecipients(deps, member)
}
