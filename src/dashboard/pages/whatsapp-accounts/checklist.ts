import type { HealthFinding, WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import { needsRegistration } from '../../../../contracts/dashboard/number-status.ts'
import { codesOf, type StepName, stepNames } from './step-names.ts'

/** What is known about a step: whether it is done, and what stands in its way. */
export interface StepState {
  done: boolean
  findings: HealthFinding[]
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
    templates: toState(approvedTemplates > 0 || isTested || callbacks.lastStatusAt !== undefined, []),
    test: toState(isTested || callbacks.lastStatusAt !== undefined, []),
    status: toState(callbacks.lastStatusAt !== undefined, find('status')),
  }
}

/** The one state of an active number: `blocked` cannot send now, `incomplete` has steps left. */
export type SetUpState = { kind: 'ready' | 'blocked' } | { kind: 'incomplete'; next: StepName }

/**
 * Needs no list of templates, which can be long: until a status has arrived, a test is the next step, and once one has,
 * there are templates.
 */
export function toSetUpState(health: WhatsAppAccountHealth): SetUpState {
  if (health.findings.some(({ blocksSending }) => blocksSending)) return { kind: 'blocked' }
  const steps = toChecklist(health, 1, false)
  const next = stepNames.find((name) => !steps[name].done)
  return next === undefined ? { kind: 'ready' } : { kind: 'incomplete', next }
}

function toState(done: boolean, findings: HealthFinding[]): StepState {
  return { done: done && findings.every(({ severity }) => severity !== 'error'), findings }
}
