import type { WhatsAppAccountEvent } from '../../../contracts/events.ts'
import { toInternational } from '../../../contracts/phone-number.ts'
import { alertFacts, timeOf } from '../../../contracts/facts/alerts.ts'
import type { Fact, FactParam, Sentence } from '../../../contracts/facts/fact.ts'
import { inactiveReasons } from '../../../contracts/facts/findings.ts'
import type { AlertChange } from './report.ts'

/** Returns the alert for an event of a WhatsApp account. `reason` says why it is inactive. */
export function toAccountChange(
  accountId: string,
  event: WhatsAppAccountEvent,
  reason: Sentence = inactiveReasons.unknown(),
): AlertChange {
  const number = nameNumber(event.data.displayPhoneNumber, event.data.phoneNumberId)
  const about = { accountId, subjectId: event.data.accountId }
  switch (event.type) {
    case 'whatsapp_account.inactive': {
      const { by, isDefault } = event.data
      const { title, byUser, byWhatsApp, isDefault: rejectsAll, isNamed } = alertFacts.inactive
      return {
        ...about,
        code: 'whatsapp_account_inactive',
        kind: 'raised',
        severity: by === 'user' ? 'warning' : 'critical',
        title: title({ number }),
        paragraphs: [
          by === 'user' ? byUser({ number }) : byWhatsApp({ number, reason }),
          isDefault ? rejectsAll() : isNamed(),
        ],
      }
    }
    case 'whatsapp_account.active':
      return {
        ...about,
        code: 'whatsapp_account_inactive',
        kind: 'recovered',
        severity: 'critical',
        title: alertFacts.active.title({ number }),
        paragraphs: [alertFacts.active.body({ number })],
      }
    case 'whatsapp_account.token_expiring':
      return {
        ...about,
        code: 'token_expiring',
        kind: 'raised',
        severity: event.data.daysLeft <= 1 ? 'critical' : 'warning',
        title: describeDays(number, event.data.daysLeft),
        paragraphs: [
          alertFacts.tokenExpiring.at({ number, at: timeOf(new Date(event.data.expiresAt)) }),
          alertFacts.tokenExpiring.replace(),
        ],
      }
    case 'number.quality_changed': {
      const said = { number, qualityRating: event.data.qualityRating }
      const isGreen = event.data.qualityRating === 'GREEN'
      return {
        ...about,
        code: 'quality_low',
        kind: isGreen ? 'recovered' : 'raised',
        severity: 'warning',
        title: alertFacts.quality.title(said),
        paragraphs: [alertFacts.quality.body(said), ...(isGreen ? [] : [alertFacts.quality.advice()])],
      }
    }
  }
}

function describeDays(number: FactParam, days: number): Fact {
  const { withinADay, inADay, inDays } = alertFacts.tokenExpiring
  if (days < 1) return withinADay({ number })
  return days === 1 ? inADay({ number }) : inDays({ number, days })
}

/** Returns the recovery for a token that was replaced or refreshed. */
export function toTokenRenewed(
  accountId: string,
  row: { id: string; phone_number_id: string; display_phone_number: string | null },
): AlertChange {
  const number = nameNumber(row.display_phone_number, row.phone_number_id)
  return {
    accountId,
    subjectId: row.id,
    code: 'token_expiring',
    kind: 'recovered',
    severity: 'critical',
    title: alertFacts.tokenRenewed.title({ number }),
    paragraphs: [alertFacts.tokenRenewed.body({ number })],
  }
}

function nameNumber(display: string | null | undefined, phoneNumberId: string): string | Fact {
  return display ? toInternational(display) : alertFacts.phoneNumberId({ phoneNumberId })
}
