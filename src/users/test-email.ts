import { errorFacts } from '../../contracts/facts/errors.ts'
import type { EmailTest } from '../../contracts/dashboard/alert.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { requireAccount } from '../accounts/account.ts'
import { emailSettingsUrl } from '../accounts/alert-rules.ts'
import type { Deps } from '../deps.ts'
import { composeEmail } from '../platform/email/compose.ts'
import { enqueueEmails } from '../platform/email/outbox.ts'
import { type AttemptLimit, takeAttempt } from './sign-in/login-throttle.ts'

/** Limits the emails that a user can have this server send to themselves. */
const testEmails: AttemptLimit = { name: 'test email', max: 3, seconds: 600 }
/** A test email is pointless after this time. */
const validSeconds = 3600

/** Sends the caller an email through the queue of alert emails. */
export async function sendTestEmail(
  deps: Pick<Deps, 'db' | 'secrets' | 'newId' | 'mail' | 'publicUrl' | 'announcements'>,
  { accountId, email }: { accountId: string; email: string },
): Promise<EmailTest> {
  if (!deps.mail) return { queued: false, to: email }
  const lock = await takeAttempt(deps, testEmails, email)
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
  deps.announcements.announce('emails')
  return { queued: true, to: email }
}
