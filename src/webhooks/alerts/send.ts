import type { Kysely } from 'kysely'
import { emailSettingsUrl } from '../../accounts/alert-rules.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { composeEmail } from '../../platform/email/compose.ts'
import { enqueueEmails } from '../../platform/email/outbox.ts'
import { enqueuePosts } from './chat/outbox.ts'
import { findRecipients } from './settings.ts'
import type { MemberAlert } from './text.ts'

export type SendAlertDeps = Pick<Deps, 'secrets' | 'newId' | 'mail' | 'publicUrl' | 'log'>

/** An older email would be outdated; the dashboard shows the current state. */
const validSeconds = 24 * 3600

/** Enqueues an email to each recipient, if an SMTP server is configured, and a post to the account's chat. */
export async function sendAlerts(
  deps: SendAlertDeps,
  trx: Kysely<Database>,
  alerts: readonly MemberAlert[],
): Promise<void> {
  if (alerts.length === 0) return
  if (!(await enqueueAlertEmails(deps, trx, alerts))) deps.log.warn('email queue full; dropped alert emails')
  if (!(await enqueuePosts(deps, trx, alerts))) deps.log.warn('chat queue full; dropped alerts')
}

async function enqueueAlertEmails(
  deps: SendAlertDeps,
  trx: Kysely<Database>,
  alerts: readonly MemberAlert[],
): Promise<boolean> {
  if (!deps.mail) return true
  const recipients = await findRecipients(trx, [...new Set(alerts.map(({ accountId }) => accountId))])
  const emails = alerts.flatMap(({ accountId, text: { title, paragraphs, link } }) => {
    const unsubscribeUrl = emailSettingsUrl(deps.publicUrl, accountId)
    return recipients
      .filter((recipient) => recipient.accountId === accountId)
      .map(({ email, accountName }) => {
        const closing = [
          `You get alerts because you are a member of the account “${accountName}” on Waybill. To stop or resume these emails:`,
        ]
        const content = composeEmail({ subject: title, paragraphs, closing, unsubscribeUrl, ...(link && { link }) })
        return { kind: 'alert' as const, accountId, to: email, validSeconds, ...content }
      })
  })
  return enqueueEmails({ ...deps, db: trx }, emails)
}

/** Wakes the processes that send emails and posts. Call it after the commit. */
export function wakeSenders({ notifications, mail }: Pick<Deps, 'notifications' | 'mail'>): void {
  if (mail) notifications.notify('emails')
  notifications.notify('chat')
}
