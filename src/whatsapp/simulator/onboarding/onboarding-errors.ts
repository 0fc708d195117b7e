import { fail, type GraphFailure } from '../errors.ts'
import type { SimulatedResponse } from '../response.ts'

/**
 * Errors of the requests that set up a number, from Meta's reference of the register edge and reference, section 2.2.
 * Code 2200 is quoted from public bug reports (chatwoot issue 14738).
 */
const onboardingFailures = {
  4: { status: 400, title: 'Application request limit reached' },
  10: { status: 403, title: 'Application does not have permission for this action' },
  200: { status: 403, title: 'You do not have the necessary permissions for this action' },
  2200: { status: 400, title: 'Callback verification failed' },
  80007: {
    status: 400,
    title: 'There have been too many calls to this WhatsApp Business account.',
    details: 'The WhatsApp Business Account has reached its rate limit.',
  },
  131031: { status: 403, title: 'Business Account locked', details: 'The account has been locked.' },
  133005: { status: 400, title: 'Two step verification PIN Mismatch' },
  133006: { status: 400, title: 'Phone number re-verification needed' },
  133008: { status: 400, title: 'Too Many two step verification PIN Guesses' },
  133009: { status: 400, title: 'Two step verification PIN Guessed Too Fast' },
  133015: { status: 400, title: 'Please wait a few minutes before attempting to register this phone number' },
  133016: {
    status: 400,
    title: 'Account register deregister rate limit exceeded',
    details: 'There were too many attempts for this phone number in a short period of time.',
  },
} as const satisfies Record<number, Omit<GraphFailure, 'code'>>

export type OnboardingErrorCode = keyof typeof onboardingFailures

export function failOnboarding(code: OnboardingErrorCode, details?: string): SimulatedResponse {
  return fail({ code, ...onboardingFailures[code], ...(details === undefined ? {} : { details }) })
}
