import type { HealthFinding } from '../../../contracts/api/account.ts'
import type { MarketingAccess } from '../../whatsapp/onboarding.ts'
import type { WhatsAppAccountChanges, WhatsAppAccountRow } from '../store.ts'

/** What is known about the marketing messages of a WhatsApp account. Undefined: not known yet. */
export interface MarketingFacts {
  marketingOnboardingStatus?: string | undefined
  marketingOffCloudApi?: boolean | undefined
  /** Whether its WABA has an approved template of the category MARKETING. */
  hasMarketingTemplates?: boolean | undefined
}

/** What WhatsApp no longer says keeps its last known value. */
export function toMarketingColumns({ onboardingStatus, isOffCloudApi }: MarketingAccess): WhatsAppAccountChanges {
  return {
    ...(onboardingStatus !== undefined && { marketing_onboarding_status: onboardingStatus }),
    ...(isOffCloudApi !== undefined && { marketing_off_cloud_api: isOffCloudApi }),
  }
}

type Columns = Pick<
  WhatsAppAccountRow,
  'id' | 'marketing_onboarding_status' | 'marketing_off_cloud_api' | 'marketing_setting'
>

/** The endpoint that the next marketing template is sent to. `find_send_facts` decides the same in SQL. */
export function marketingEndpointOf(row: Columns): 'marketing_messages' | 'messages' {
  const isReady = row.marketing_onboarding_status === 'ONBOARDED' || row.marketing_off_cloud_api === true
  return row.marketing_setting === 'automatic' && isReady ? 'marketing_messages' : 'messages'
}

/** The day is reported by one public post; no page of Meta was found that names it (autumn reference, section 1.1). */
const reportedEnd = '2027-10-13'

/** A business account that sends no marketing templates needs no onboarding. */
export function findMarketingProblems(facts: MarketingFacts): HealthFinding[] {
  const { marketingOnboardingStatus: status, marketingOffCloudApi: isOffCloudApi } = facts
  if (status === undefined || status === 'ONBOARDED' || facts.hasMarketingTemplates !== true) return []
  const finding = { blocksSending: false, fix: explainOnboarding(status) }
  if (isOffCloudApi === true)
    return [
      {
        ...finding,
        code: 'marketing_rejected',
        severity: 'error',
        message: `WhatsApp rejects every marketing template of this business account: the Cloud API is switched off for them, and the account is not onboarded to the Marketing Messages API (${status}).`,
      },
    ]
  return [
    {
      ...finding,
      code: 'marketing_not_onboarded',
      severity: 'warning',
      message: `This business account is not onboarded to the Marketing Messages API (${status}), so its marketing templates go through the Cloud API. WhatsApp is reported to reject them there from ${reportedEnd}; Meta has not confirmed the day.`,
    },
  ]
}

const askMeta = 'Ask Meta Business Support how this account can be onboarded to the Marketing Messages API.'

/** Reference: autumn reference, section 1.2. */
const explanations: Readonly<Record<string, string>> = {
  ELIGIBLE:
    'Let an admin of the business portfolio accept the terms: in the app dashboard of Meta under WhatsApp > Quickstart > Improve ROI with marketing messages, or in WhatsApp Manager under Alerts. Waybill then changes the endpoint by itself.',
  PENDING_VALID_PAYMENT_METHOD:
    'Add a valid payment method in WhatsApp Manager. WhatsApp then completes the onboarding.',
  PENDING_INTERNAL_SETUP: 'Wait: WhatsApp is completing the onboarding.',
  INELIGIBLE_INACTIVE_OR_RESTRICTED:
    'Open WhatsApp Manager, and solve what restricts this account. It can be onboarded afterwards.',
}

function explainOnboarding(status: string): string {
  return explanations[status] ?? askMeta
}

/** One sentence about how marketing templates are sent, and what to do about it; undefined if WhatsApp was not asked. */
export function describeMarketing(row: Columns): { ok: boolean; message: string; fix?: string } | undefined {
  const { marketing_onboarding_status: status, marketing_setting: setting, marketing_off_cloud_api: isOff } = row
  if (status === null) return undefined
  const endpoint = `marketing templates are sent to /${marketingEndpointOf(row)}`
  if (status === 'ONBOARDED')
    return {
      ok: setting === 'automatic' || isOff !== true,
      message: `The business account is onboarded to the Marketing Messages API; ${endpoint}${setting === 'cloud_api' ? ', as set for this WhatsApp account' : ''}.`,
      ...(setting === 'cloud_api' &&
        isOff === true && { fix: `Run: waybill whatsapp set-marketing ${row.id} --endpoint automatic` }),
    }
  return {
    ok: isOff !== true,
    message: `The business account is not onboarded to the Marketing Messages API (${status}); ${endpoint}.`,
    fix: explainOnboarding(status),
  }
}
