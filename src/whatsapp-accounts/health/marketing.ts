import { type Fact, inEnglish } from '../../../contracts/facts/fact.ts'
import { findings } from '../../../contracts/facts/findings.ts'
import type { MarketingAccess } from '../../whatsapp/onboarding.ts'
import type { WhatsAppAccountChanges, WhatsAppAccountRow } from '../store.ts'
import type { Finding } from './finding.ts'

const facts = findings.marketing

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
    ...(onboardingStatus !== undefined && { marketingOnboardingStatus: onboardingStatus }),
    ...(isOffCloudApi !== undefined && { marketingOffCloudApi: isOffCloudApi }),
  }
}

type Columns = Pick<
  WhatsAppAccountRow,
  'id' | 'marketingOnboardingStatus' | 'marketingOffCloudApi' | 'marketingSetting'
>

/** The endpoint that the next marketing template is sent to. `find_send_facts` decides the same in SQL. */
export function marketingEndpointOf(row: Columns): 'marketing_messages' | 'messages' {
  const isReady = row.marketingOnboardingStatus === 'ONBOARDED' || row.marketingOffCloudApi === true
  return row.marketingSetting === 'automatic' && isReady ? 'marketing_messages' : 'messages'
}

/** The day is reported by one public post; no page of Meta was found that names it (autumn reference, section 1.1). */
const reportedEnd = '2027-10-13'

/** A business account that sends no marketing templates needs no onboarding. */
export function findMarketingProblems(known: MarketingFacts): Finding[] {
  const { marketingOnboardingStatus: status, marketingOffCloudApi: isOffCloudApi } = known
  if (status === undefined || status === 'ONBOARDED' || known.hasMarketingTemplates !== true) return []
  const finding = { blocksSending: false, fix: explainOnboarding(status) }
  if (isOffCloudApi === true)
    return [{ ...finding, code: 'marketing_rejected', severity: 'error', message: facts.rejected({ status }) }]
  const message = facts.notOnboarded({ status, date: reportedEnd })
  return [{ ...finding, code: 'marketing_not_onboarded', severity: 'warning', message }]
}

/** Reference: autumn reference, section 1.2. */
const explanations: Readonly<Record<string, () => Fact>> = {
  ELIGIBLE: facts.acceptTerms,
  PENDING_VALID_PAYMENT_METHOD: facts.addPayment,
  PENDING_INTERNAL_SETUP: facts.wait,
  INELIGIBLE_INACTIVE_OR_RESTRICTED: facts.solveRestriction,
}

function explainOnboarding(status: string): Fact {
  return (explanations[status] ?? facts.askMeta)()
}

/** One sentence about how marketing templates are sent, and what to do about it; undefined if WhatsApp was not asked. */
export function describeMarketing(row: Columns): { ok: boolean; message: string; fix?: string } | undefined {
  const { marketingOnboardingStatus: status, marketingSetting: setting, marketingOffCloudApi: isOff } = row
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
    fix: inEnglish(explainOnboarding(status)),
  }
}
