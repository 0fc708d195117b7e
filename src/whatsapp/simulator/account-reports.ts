/** What WhatsApp reports about a business, by callback (reference, section 4.4; autumn reference, section 3). */
export type AccountReport =
  | { kind: 'limit'; tier: string; people: number }
  | { kind: 'throughput' }
  | { kind: 'alert'; type: string; severity: 'WARNING' | 'INFORMATIONAL'; description: string }
  | { kind: 'ban'; state: 'SCHEDULE_FOR_DISABLE' | 'REINSTATE' }
  | { kind: 'restriction'; violation?: string; restrictions: string[]; ofPortfolio?: true }

/** A change of the callback, and the entry that it belongs to. */
export interface ReportCallback {
  field: string
  entryId: string
  value: object
}

/** The part of a simulated number that reports are about. */
interface ReportedNumber {
  wabaId: string
  displayPhoneNumber: string
  messagingLimit: string
  throughputLevel: string
}

const restrictionSeconds = 7 * 86_400

/** Changes the number as WhatsApp would, so that a check that follows reads the same. */
export function applyReport(number: ReportedNumber, report: AccountReport): void {
  if (report.kind === 'limit') number.messagingLimit = report.tier
  if (report.kind === 'throughput') number.throughputLevel = 'HIGH'
}

export function writeReport(
  { wabaId, displayPhoneNumber }: ReportedNumber,
  portfolioId: string,
  report: AccountReport,
): ReportCallback {
  const now = Math.floor(Date.now() / 1000)
  switch (report.kind) {
    case 'limit':
      return {
        field: 'business_capability_update',
        entryId: portfolioId,
        value: { max_daily_conversations_per_business: report.people, max_phone_numbers_per_business: 20 },
      }
    case 'throughput':
      return {
        field: 'phone_number_quality_update',
        entryId: wabaId,
        value: { display_phone_number: displayPhoneNumber.replaceAll(/\D/g, ''), event: 'THROUGHPUT_UPGRADE' },
      }
    case 'alert': {
      const { type, severity, description } = report
      const alert = { alert_severity: severity, alert_status: 'ACTIVE', alert_type: type }
      return {
        field: 'account_alerts',
        entryId: wabaId,
        value: {
          entity_type: 'BUSINESS',
          entity_id: portfolioId,
          alert_info: { ...alert, alert_description: description },
        },
      }
    }
    case 'ban': {
      const date = new Date((now + restrictionSeconds) * 1000).toISOString().slice(0, 10)
      return {
        field: 'account_update',
        entryId: wabaId,
        value: { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: report.state, waba_ban_date: date } },
      }
    }
    case 'restriction': {
      const { violation, restrictions, ofPortfolio } = report
      const expiration = now + restrictionSeconds
      return {
        field: 'account_update',
        entryId: ofPortfolio ? portfolioId : wabaId,
        value: {
          event: 'ACCOUNT_RESTRICTION',
          ...(violation !== undefined && { violation_info: { violation_type: violation } }),
          ...(restrictions.length > 0 && {
            restriction_info: restrictions.map((restriction_type) => ({ restriction_type, expiration })),
          }),
        },
      }
    }
  }
}
