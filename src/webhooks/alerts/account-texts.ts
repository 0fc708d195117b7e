import type { WhatsAppAccountEvent } from '../../../contracts/events.ts'
import type { AlertChange } from './report.ts'
import { formatTime } from './text.ts'

/** Returns the alert for an event of a WhatsApp account. */
export function toAccountChange(accountId: string, event: WhatsAppAccountEvent): AlertChange {
  const number = event.data.displayPhoneNumber ?? `phone number ID ${event.data.phoneNumberId}`
  const about = { accountId, subjectId: event.data.accountId }
  switch (event.type) {
    case 'whatsapp_account.inactive':
      return {
        ...about,
        code: 'whatsapp_account_inactive',
        kind: 'raised',
        severity: event.data.by === 'user' ? 'warning' : 'critical',
        text: {
          title: `${number} can no longer send`,
          paragraphs: [
            event.data.by === 'user'
              ? `A user deactivated the WhatsApp account ${number}.`
              : `WhatsApp rejected the WhatsApp account ${number}: ${event.data.reason}`,
            event.data.isDefault
              ? 'It is the default, so requests that do not set accountId are rejected.'
              : 'Requests that set its accountId are rejected.',
          ],
        },
      }
    case 'whatsapp_account.active':
      return {
        ...about,
        code: 'whatsapp_account_inactive',
        kind: 'recovered',
        severity: 'critical',
        text: { title: `${number} can send again`, paragraphs: [`The WhatsApp account ${number} is active again.`] },
      }
    case 'whatsapp_account.token_expiring':
      return {
        ...about,
        code: 'token_expiring',
        kind: 'raised',
        severity: event.data.daysLeft <= 1 ? 'critical' : 'warning',
        text: {
          title: `The access token of ${number} ${describeDays(event.data.daysLeft)}`,
          paragraphs: [
            `The access token of the WhatsApp account ${number} expires at ${formatTime(event.data.expiresAt)}.`,
            'Replace the token before then, or this account can no longer send messages.',
          ],
        },
      }
    case 'number.quality_changed':
      return {
        ...about,
        code: 'quality_low',
        kind: event.data.qualityRating === 'GREEN' ? 'recovered' : 'raised',
        severity: 'warning',
        text: {
          title: `The quality rating of ${number} is now ${event.data.qualityRating}`,
          paragraphs: [
            `WhatsApp rates ${number} ${event.data.qualityRating} by how often recipients block or report its messages.`,
            ...(event.data.qualityRating === 'GREEN'
              ? []
              : [
                  'A low rating can lower the messaging limit. Send less often, or change the templates that recipients report.',
                ]),
          ],
        },
      }
  }
}

function describeDays(days: number): string {
  if (days < 1) return 'expires within a day'
  return `expires in ${days} ${days === 1 ? 'day' : 'days'}`
}

/** Returns the recovery for a token that was replaced or refreshed. */
export function toTokenRenewed(
  accountId: string,
  {
    id,
    phone_number_id,
    display_phone_number,
  }: { id: string; phone_number_id: string; display_phone_number: string | null },
): AlertChange {
  const number = display_phone_number ?? `phone number ID ${phone_number_id}`
  return {
    accountId,
    subjectId: id,
    code: 'token_expiring',
    kind: 'recovered',
    severity: 'critical',
    text: {
      title: `The access token of ${number} was renewed`,
      paragraphs: [`The WhatsApp account ${number} has a new access token.`],
    },
  }
}
