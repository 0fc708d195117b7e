import type { HealthFinding, WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import { needsRegistration } from '../../../../contracts/dashboard/connect.ts'

export type StepName = 'token' | 'subscription' | 'callback' | 'registration' | 'templates' | 'test' | 'status'

/** What is known about a step: whether it is done, and what stands in its way. */
export interface StepState {
  done: boolean
  findings: HealthFinding[]
}

const codesOf: Record<Exclude<StepName, 'templates' | 'test'>, RegExp> = {
  token: /^(rejected|disabled|token_|permission_)/,
  subscription: /^not_subscribed$/,
  callback: /^(app_secret_missing|callback_|field)/,
  registration: /^(number_|phone_number_blocked)/,
  status: /^no_statuses$/,
}

/**
 * Derives the checklist from stored facts, so that it is the same in every browser and survives a closed one. A step is
 * also done if a later fact shows that it works, such as a callback that arrived.
 */
export function toChecklist(
  health: WhatsAppAccountHealth,
  approvedTemplates: number,
  isTested: boolean,
): Record<StepName, StepState> {
  const { token, number, callbacks, findings } = health
  const find = (step: keyof typeof codesOf) => findings.filter(({ code }) => codesOf[step].test(code))
  const isHeard = callbacks.lastCallbackAt !== undefined
  return {
    token: toState(token.valid !== false, find('token')),
    subscription: toState(callbacks.subscribed === true, find('subscription')),
    callback: toState(isHeard || callbacks.callbackUrl !== undefined, find('callback')),
    registration: toState(number.status !== undefined && !needsRegistration(number.status), find('registration')),
    templates: toState(approvedTemplates > 0, []),
    test: toState(isTested || callbacks.lastStatusAt !== undefined, []),
    status: toState(callbacks.lastStatusAt !== undefined, find('status')),
  }
}

/** In the order in which a number is set up. */
export const stepNames: readonly StepName[] = [
  'token',
  'subscription',
  'callback',
  'registration',
  'templates',
  'test',
  'status',
]

/** The step that a finding is shown with; undefined for others, such as quality or payment. */
export function stepOf(code: string): StepName | undefined {
  return stepNames.find((name) => name in codesOf && codesOf[name as keyof typeof codesOf].test(code))
}

function toState(done: boolean, findings: HealthFinding[]): StepState {
  return { done: done && findings.every(({ severity }) => severity !== 'error'), findings }
}
