import type { Kysely } from 'kysely'
import type { WhatsAppAccountEvent } from '../../../contracts/events.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { composeEmail, type EmailContent } from '../../platform/email/compose.ts'
import { enqueueEmails } from '../../platform/email/outbox.ts'

/** What happened to a WhatsApp account of this customer. */
export interface MailedAlert {
  accountId: string
  event: WhatsAppAccountEvent
}

type MailDeps = Pick<Deps, 'secrets' | 'newId' | 'mail' | 'publicUrl' | 'log'>

/** Later, the dashboard says more than an old e-mail. */
const validSeconds = 24 * 3600

/** Puts an e-mail to each member of the account into the outbox, where an SMTP server is set up. */
export async function mailAlerts(deps: MailDeps, trx: Kysely<Database>, alerts: readonly MailedAlert[]): Promise<void> {
  if (!deps.mail || alerts.length === 0) return
  const members = await findRecipients(trx, [...new Set(alerts.map(({ accountId }) => accountId))])
  const emails = alerts.flatMap(({ accountId, event }) => {
    const content = writeAlert(
      event,
      `${deps.publicUrl}/settings/${accountId}/whatsapp-accounts/${event.data.accountId}`,
    )
    return members
      .filter((member) => member.account_id === accountId)
      .map(({ email }) => ({ kind: 'alert' as const, accountId, to: email, validSeconds, ...content }))
  })
  if (!(await enqueueEmails({ ...deps, db: trx }, emails)))
    deps.log.warn('too many e-mails wait to be sent; dropped e-mails of alerts')
}

function writeAlert(event: WhatsAppAccountEvent, url: string): EmailContent {
  const number = event.data.displayPhoneNumber ?? `phone number ID ${event.data.phoneNumberId}`
  const link = { label: 'Open the WhatsApp account', url }
  switch (event.type) {
    case 'whatsapp_account.inactive':
      return composeEmail({
        subject: `${number} cannot send any more`,
        paragraphs: [
          event.data.by === 'user'
            ? `A user deactivated the WhatsApp account ${number}.`
            : `WhatsApp rejected the WhatsApp account ${number}: ${event.data.reason}`,
          event.data.isDefault
            ? 'It is the default, so requests that do not set accountId are rejected.'
            : 'Requests that set its accountId are rejected.',
          'See what to do:',
        ],
        link,
      })
    case 'whatsapp_account.active':
      return composeEmail({
        subject: `${number} can send again`,
        paragraphs: [`The WhatsApp account ${number} is active again.`],
        link,
      })
    case 'whatsapp_account.token_expiring':
      return composeEmail({
        subject: `The access token of ${number} ${describeDays(event.data.daysLeft)}`,
        paragraphs: [
          `The access token of the WhatsApp account ${number} expires at ${event.data.expiresAt.slice(0, 16).replace('T', ' ')} UTC.`,
          'Without a new one, nothing can be sent from it then. Replace the token:',
        ],
        link,
      })
    case 'number.quality_changed':
      return composeEmail({
        subject: `The quality rating of ${number} is now ${event.data.qualityRating}`,
        paragraphs: [
          `WhatsApp rates ${number} ${event.data.qualityRating} by how often recipients block or report its messages.`,
          'A low rating can lower the messaging limit. Send less often, or change the templates that recipients report.',
        ],
        link,
      })
  }
}

function describeDays(days: number): string {
  if (days < 1) return 'expires within a day'
  return `expires in ${days} ${days === 1 ? 'day' : 'days'}`
}

function findRecipients(db: Kysely<Database>, accountIds: string[]): Promise<{ account_id: string; email: string }[]> {
  return db
    .selectFrom('owner_roles')
    .innerJoin('owners', 'owners.id', 'owner_roles.owner_id')
    .select(['owner_roles.account_id', 'owners.email'])
    .where('owner_roles.account_id', 'in', accountIds)
    .orderBy('owners.email')
    .execute()
}
