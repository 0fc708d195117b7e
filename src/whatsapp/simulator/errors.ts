import { randomBytes } from 'node:crypto'
import type { SimulatedResponse } from './exchange.ts'

/** An error of the Graph API: reference, sections 2.1 to 2.3. */
interface GraphFailure {
  status: number
  code: number
  title: string
  details?: string
  type?: 'OAuthException' | 'GraphMethodException'
  subcode?: number
  isTransient?: true
}

/**
 * The errors of the sandbox recipients. They were written from the reference independently of the client's table, so
 * that tests compare two sources.
 */
export const failures = {
  1: { status: 400, title: 'API Unknown' },
  2: { status: 503, title: 'API Service', isTransient: true },
  3: { status: 500, title: 'API Method' },
  4: { status: 400, title: 'API Too Many Calls' },
  10: { status: 403, title: 'Permission Denied' },
  33: { status: 400, title: 'Parameter value is not valid', details: 'The business phone number has been deleted.' },
  100: { status: 400, title: 'Invalid parameter', details: 'The request has an unsupported parameter.' },
  190: { status: 401, title: 'Access token has expired' },
  200: { status: 403, title: 'API Permission' },
  368: { status: 403, title: 'Temporarily blocked for policies violations' },
  80007: {
    status: 400,
    title: 'Rate limit issues',
    details: 'The WhatsApp Business Account has reached its rate limit.',
  },
  130429: { status: 400, title: 'Rate limit hit', details: 'Cloud API message throughput has been reached.' },
  130472: { status: 400, title: "User's number is part of an experiment" },
  130497: { status: 403, title: 'Business account is restricted from messaging users in this country.' },
  131000: { status: 500, title: 'Something went wrong', details: 'Message failed to send due to an unknown error.' },
  131005: { status: 403, title: 'Access denied' },
  131016: { status: 500, title: 'Service unavailable', details: 'A service is temporarily unavailable.' },
  131026: { status: 400, title: 'Message Undeliverable', details: 'Message Undeliverable.' },
  131030: {
    status: 400,
    title: 'Recipient phone number not in allowed list',
    details: 'Recipient phone number not in allowed list: Add recipient phone number to recipient list and try again.',
    subcode: 2494010,
  },
  131031: { status: 403, title: 'Business Account locked', details: 'The account has been locked.' },
  131037: { status: 400, title: 'WhatsApp provided number needs display name approval before message can be sent.' },
  131042: {
    status: 400,
    title: 'Business eligibility payment issue',
    details: 'There was one or more errors related to your payment method.',
  },
  131045: { status: 500, title: 'Incorrect certificate' },
  131048: { status: 400, title: 'Spam rate limit hit', details: 'Too many messages from this number were blocked.' },
  131049: {
    status: 400,
    title: 'This message was not delivered to maintain healthy ecosystem engagement.',
  },
  131050: { status: 400, title: 'User has stopped receiving marketing messages from this business' },
  131053: { status: 400, title: 'Media upload error' },
  131055: {
    status: 400,
    title: 'Method not allowed',
    details: 'Only marketing template messages are supported on this endpoint.',
  },
  131061: {
    status: 400,
    title: 'Method not allowed',
    details: 'A template with a maximum price can only be sent on the endpoint for marketing messages.',
  },
  131063: { status: 400, title: 'Marketing templates disabled for Cloud API' },
  131062: {
    status: 400,
    title: 'Business-scoped User ID (BSUID) recipients are not supported',
    details: 'Authentication templates cannot be sent to a BSUID.',
  },
  131056: {
    status: 400,
    title: '(Business Account, Consumer Account) pair rate limit hit',
    details: 'too many messages to the same number in a short time',
  },
  131057: { status: 500, title: 'Account in maintenance mode' },
  132001: { status: 404, title: 'Template name does not exist in the translation' },
  132007: { status: 400, title: 'Template format character policy violated' },
  132015: { status: 400, title: 'Template is Paused', details: 'The template is paused for low quality.' },
  132016: { status: 400, title: 'Template is Disabled', details: 'The template has been disabled for low quality.' },
  133004: { status: 503, title: 'Server Temporarily Unavailable' },
  133010: { status: 400, title: 'Phone number not registered' },
  134100: { status: 400, title: 'Only marketing messages supported' },
  134101: { status: 400, title: 'Your template is still syncing' },
  134102: {
    status: 500,
    title: 'Template unavailable for use',
    details: 'Check that the account is onboarded to the Marketing Messages API.',
  },
} as const satisfies Record<number, Omit<GraphFailure, 'code'>>

export function fail(failure: GraphFailure): SimulatedResponse {
  return { kind: 'json', status: failure.status, body: { error: toErrorBody(failure) } }
}

/** Returns a failure of this table, optionally with more exact details. */
export function failWith(code: keyof typeof failures, details?: string): SimulatedResponse {
  return fail({ code, ...failures[code], ...(details === undefined ? {} : { details }) })
}

function toErrorBody({ code, title, details, type = 'OAuthException', subcode, isTransient }: GraphFailure) {
  return {
    message: `(#${code}) ${title}`,
    type,
    code,
    ...(details === undefined ? {} : { error_data: { messaging_product: 'whatsapp', details } }),
    ...(subcode === undefined ? {} : { error_subcode: subcode }),
    ...(isTransient === undefined ? {} : { is_transient: isTransient }),
    fbtrace_id: `A${randomBytes(16).toString('base64url')}`,
  }
}

/** Plain Graph errors have no `(#code)` in their message. */
export function failPlainly(status: number, error: object): SimulatedResponse {
  return {
    kind: 'json',
    status,
    body: { error: { ...error, fbtrace_id: `A${randomBytes(16).toString('base64url')}` } },
  }
}

export function refuseToken(): SimulatedResponse {
  return failPlainly(401, {
    message: 'Invalid OAuth access token - Cannot parse access token',
    type: 'OAuthException',
    code: 190,
  })
}

export function refuseExpiredToken(expiresAt: number): SimulatedResponse {
  return failPlainly(401, {
    message: `Error validating access token: Session has expired on ${new Date(expiresAt * 1000).toUTCString()}.`,
    type: 'OAuthException',
    code: 190,
    error_subcode: 463,
  })
}

/** An app secret that is not the app's: Graph reports it with HTTP 400 (facebook-ios-sdk, issue 2242). */
export function refuseAppSecret(): SimulatedResponse {
  return failPlainly(400, { message: 'Invalid OAuth access token signature.', type: 'OAuthException', code: 190 })
}

/** Graph returns the same error for an ID that does not exist and one that the token may not access. */
export function unknownObject(method: string, id: string): SimulatedResponse {
  return failPlainly(400, {
    message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
    type: 'GraphMethodException',
    code: 100,
    error_subcode: 33,
  })
}

export function failPlainParameter(parameter: string): SimulatedResponse {
  return failPlainly(400, {
    message: `(#100) Invalid parameter: ${parameter}`,
    type: 'OAuthException',
    code: 100,
  })
}

/** Fails the whole request, as the Graph API does. */
export function unknownField(field: string): SimulatedResponse {
  const message = `(#100) Tried accessing nonexisting field (${field})`
  return failPlainly(400, { message, type: 'OAuthException', code: 100 })
}

export function unknownPath(path: string): SimulatedResponse {
  return failPlainly(404, {
    message: `(#803) Some of the aliases you requested do not exist: ${path}`,
    type: 'GraphMethodException',
    code: 803,
  })
}

/** A version of the Graph API that was never released is taken for a part of the path. */
export function unknownVersion(path: string): SimulatedResponse {
  return failPlainly(400, { message: `Unknown path components: ${path}`, type: 'OAuthException', code: 2500 })
}

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
