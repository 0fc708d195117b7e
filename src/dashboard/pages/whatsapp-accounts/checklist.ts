import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { FindingWithFacts } from './describe.ts'
import { awaitsRegistration, isRegistered } from '../../../../contracts/dashboard/number-status.ts'

/** The state of a step: whether it is done, and the findings that block it. */
export interface StepState {
  done: boolean
  findings: FindingWithFacts[]
}

/**
 * Leaves out that a number is not registered while its first registration is to come: that is the next step of its setup
 * and not a problem. A number that has sent before has lost its registration.
 */
export function withoutRegistrationToCome(account: WhatsAppAccountHealth): WhatsAppAccountHealth {
  const { number, callbacks } = account
  if (!awaitsRegistration(number) || callbacks.lastStatusAt !== undefined) return account
  const findings = account.findings.filter(({ code }) => code !== `number_${number.status?.toLowerCase()}`)
  return { ...account, findings, healthy: findings.every(({ severity }) => severity !== 'error') }
}

/**
 * Derives the checklist from stored facts, so that it is the same in every browser and after a reload. A step also counts
 * as done if a later fact proves it, such as a received callback.
 */
export function toChecklist(
  health: WhatsAppAccountHealth,
  approvedTemplates: number,
  isTested: boolean,
): Record<StepName, StepState> {
  const { token, number, callbacks, findings } = health
  const find = (step: keyof typeof codesOf) => findings.filter(({ code }) => codesOf[step].test(code))
  const hasCallback = callbacks.lastCallbackAt !== undefined
  return {
    token: toState(token.valid !== false, find('token')),
    subscription: toState(callbacks.subscribed === true, find('subscription')),
    callback: toState(hasCallback || callbacks.callbackUrl !== undefined, find('callback')),
    registration: toState(isRegistered(number), find('registration')),
    templates: toState(approvedTemplates > 0 || isTested || callbacks.lastStatusAt !== undefined, []),
    test: toState(isTested || callbacks.lastStatusAt !== undefined, []),
    status: toState(callbacks.lastStatusAt !== undefined, find('status')),
  }
}

/** The state of an active number: `blocked` cannot send now, `incomplete` has remaining steps. */
export type SetUpState = { kind: 'ready' | 'blocked' } | { kind: 'incomplete'; next: StepName }

/**
 * Does not need the list of templates, which can be long: before the first status, the next step is the test; after it,
 * there must be templates.
 */
export function toSetUpState(health: WhatsAppAccountHealth): SetUpState {
  if (health.findings.some(({ blocksSending }) => blocksSending)) return { kind: 'blocked' }
  const steps = toChecklist(health, 1, false)
  const next = stepNames.find((name) => !steps[name].done)
  return next === undefined ? { kind: 'ready' } : { kind: 'incomplete', next }
}

function toState(done: boolean, findings: FindingWithFacts[]): StepState {
  return { done: done && findings.every(({ severity }) => severity !== 'error'), findings }
}

export type StepName = 'token' | 'subscription' | 'callback' | 'registration' | 'templates' | 'test' | 'status'

/** The findings of each step. */
const codesOf: Record<Exclude<StepName, 'templates' | 'test'>, RegExp> = {
  token: /^(rejected|disabled|token_|permission_)/,
  subscription: /^not_subscribed$/,
  callback: /^(app_secret_missing|callback_|field)/,
  registration: /^(number_|phone_number_blocked)/,
  status: /^no_statuses$/,
}

/** In setup order. */
export const stepNames: readonly StepName[] = [
  'token',
  'subscription',
  'callback',
  'registration',
  'templates',
  'test',
  'status',
]

export const stepTitles = {
  token: msg`Access token`,
  subscription: msg`Subscription`,
  callback: msg`Callback URL`,
  registration: msg`Registration`,
  templates: msg`Templates`,
  test: msg`Test message`,
  status: msg`First status`,
} satisfies Record<StepName, MessageDescriptor>

/** The step that shows a finding; undefined for other findings, such as quality or payment. */
export function stepOf(code: string): StepName | undefined {
  return stepNames.find((name) => name in codesOf && codesOf[name as keyof typeof codesOf].test(code))
}
