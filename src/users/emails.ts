import type { EmailTest } from '../../contracts/dashboard/alert.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { errorFacts } from '../../contracts/facts/errors.ts'
import type { Role } from '../../contracts/procedure.ts'
import { requireAccount } from '../accounts/account.ts'
import { emailSettingsUrl } from '../accounts/alert-rules.ts'
import type { Deps } from '../deps.ts'
import { composeEmail, type EmailContent } from '../platform/email/compose.ts'
import { enqueueEmails } from '../platform/email/outbox.ts'
import { type AttemptLimit, consumeAttempt } from './sign-in/login-throttle.ts'

const roleRights = { owner: 'an owner, with full access', viewer: 'a viewer, with read-only access' } satisfies Record<
  Role,
  string
>

interface InvitationFacts {
  accountName: string
  role: Role
  /** Email address of the owner who invites; absent for an operator. */
  invitedBy: string | undefined
  link: string
  expiresAt: Date
  /** The page where members turn alert emails off. */
  emailSettingsUrl: string
}

export function writeInvitation({ accountName, role, invitedBy, link, ...facts }: InvitationFacts): EmailContent {
  const who = invitedBy === undefined ? 'You have been invited' : `${invitedBy} has invited you`
  return composeEmail({
    subject: `Invitation to “${accountName}” on Waybill`,
    paragraphs: [`${who} to the account “${accountName}” on Waybill as ${roleRights[role]}.`, 'Accept the invitation:'],
    link: { label: 'Accept the invitation', url: link },
    closing: [
      `The link works once and expires at ${formatTime(facts.expiresAt)}.`,
      `Members get an email when something stops working. You can turn that off: ${facts.emailSettingsUrl}`,
      'If you did not expect this invitation, ignore this email.',
    ],
  })
}

export function writePasswordReset({ link, expiresAt }: { link: string; expiresAt: Date }): EmailContent {
  return composeEmail({
    subject: 'Set a new password for Waybill',
    paragraphs: ['Somebody asked for a new password for your Waybill account.', 'Set a new password:'],
    link: { label: 'Set a new password', url: link },
    closing: [
      `The link works once and expires at ${formatTime(expiresAt)}.`,
      'If it was not you, ignore this email. Your password stays as it is.',
    ],
  })
}

/** `2026-11-20 09:30 UTC`: the time zone of the reader is unknown. */
function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Limits the emails that a user can have this server send to themselves. */
const testEmails: AttemptLimit = { name: 'test email', max: 3, seconds: 600 }
/** A test email is pointless after this time. */
const validSeconds = 3600

/** Sends the caller an email through the queue of alert emails. */
export async function sendTestEmail(
  deps: Pick<Deps, 'db' | 'secrets' | 'newId' | 'mail' | 'publicUrl' | 'notifications'>,
  { accountId, email }: { accountId: string; email: string },
): Promise<EmailTest> {
  if (!deps.mail) return { queued: false, to: email }
  const lock = await consumeAttempt(deps, testEmails, email)
  if (lock)
    throw new ServiceError('RATE_LIMIT_EXCEEDED', errorFacts.tooManyTestEmails(), {
      retryAfterSeconds: lock.secondsLeft,
    })
  const { name } = await requireAccount(deps.db, accountId)
  const content = composeEmail({
    subject: 'Test email from Waybill',
    paragraphs: [`Alerts of the account “${name}” reach you at this address.`],
    link: { label: 'Open the alert settings', url: emailSettingsUrl(deps.publicUrl, accountId) },
  })
  if (!(await enqueueEmails(deps, [{ kind: 'alert', accountId, to: email, validSeconds, ...content }])))
    throw new ServiceError('SERVICE_UNAVAILABLE', errorFacts.tooManyEmails(), {
      retryAfterSeconds: 60,
    })
  deps.notifications.notify('emails')
  return { queued: true, to: email }
}
