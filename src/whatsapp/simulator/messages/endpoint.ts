import { failWith } from '../errors.ts'
import type { SimulatedResponse } from '../exchange.ts'
import type { MarketingState, SimulatedNumber, SimulatorState } from '../state.ts'
import type { GraphTemplate } from '../templates/template-list.ts'

export type SimulatedEndpoint = 'messages' | 'marketing_messages'
export type ProductPolicy = 'CLOUD_API_FALLBACK' | 'STRICT'

const onboarded: MarketingState = { onboardingStatus: 'ONBOARDED', offCloudApi: false }

export function marketingOf(state: SimulatorState, wabaId: string): MarketingState {
  return state.marketing.get(wabaId) ?? onboarded
}

/** Returns an error if the endpoint does not take the template (autumn reference, sections 1.3 and 1.4). */
export function checkEndpoint(
  { onboardingStatus, offCloudApi }: MarketingState,
  { category }: GraphTemplate,
  { endpoint, policy }: { endpoint: SimulatedEndpoint; policy: ProductPolicy },
): SimulatedResponse | undefined {
  const isMarketing = category === 'MARKETING'
  if (endpoint === 'messages') return isMarketing && offCloudApi ? failWith(131063) : undefined
  if (!isMarketing) return failWith(131055)
  if (onboardingStatus === 'ONBOARDED') return undefined
  if (offCloudApi) return failWith(131063)
  // Not documented; 134102 is the likeliest answer.
  return policy === 'STRICT' ? failWith(134102) : undefined
}

/** Whether the Marketing Messages API carries an accepted message. Otherwise the Cloud API does, as its fallback. */
export function isCarriedByMarketingApi(
  state: SimulatorState,
  from: SimulatedNumber,
  endpoint: SimulatedEndpoint,
): boolean {
  return endpoint === 'marketing_messages' && marketingOf(state, from.wabaId).onboardingStatus === 'ONBOARDED'
}
