import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

export type StepName = 'token' | 'subscription' | 'callback' | 'registration' | 'templates' | 'test' | 'status'

/** The findings of each step. */
export const codesOf: Record<Exclude<StepName, 'templates' | 'test'>, RegExp> = {
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
