import type { HealthFinding, WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'

export type StepName = 'token' | 'subscription' | 'callback' | 'registration' | 'templates' | 'test' | 'status'

/** What is known about a step: whether it is done, and what stands in its way. */
export interface StepState {
  done: boolean
  finding?: HealthFinding
}

interface TemplateFacts {
  syncedAt: string | undefined
  approved: number
}

const codesOf: Record<Exclude<StepName, 'templates' | 'test' | 'status'>, RegExp> = {
  token: /^(rejected|token_|permission_)/,
  subscription: /^not_subscribed$/,
  callback: /^(app_secret_missing|callback_|field)/,
  registration: /^(number_|phone_number_blocked)/,
}

/**
 * Derives the checklist from stored facts, so that it is the same in every browser and survives a closed one. A step is
 * also done if a later fact shows that it works, such as a callback that arrived.
 */
export function toChecklist(
  health: WhatsAppAccountHealth,
  templates: TemplateFacts | undefined,
  isTested: boolean,
): Record<StepName, StepState> {
  const { token, number, callbacks, findings } = health
  const find = (step: keyof typeof codesOf) => findings.find(({ code }) => codesOf[step].test(code))
  const isHeard = callbacks.lastCallbackAt !== undefined
  return {
    token: toState(token.valid !== false, find('token')),
    subscription: toState(callbacks.subscribed === true, find('subscription')),
    callback: isHeard ? { done: true } : toState(callbacks.callbackUrl !== undefined, find('callback')),
    registration: toState(number.status === 'CONNECTED', find('registration')),
    templates: { done: (templates?.approved ?? 0) > 0 },
    test: { done: isTested || callbacks.lastStatusAt !== undefined },
    status: { done: callbacks.lastStatusAt !== undefined },
  }
}

function toState(done: boolean, finding: HealthFinding | undefined): StepState {
  return { done: done && finding?.severity !== 'error', ...(finding && { finding }) }
}
