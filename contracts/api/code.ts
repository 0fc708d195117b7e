import { z } from 'zod'
import {
  ExternalId,
  LanguageCode,
  namedObject,
  nonEmptyText,
  PhoneNumber,
  responseField,
  singleLine,
  TemplateName,
  textUpTo,
  Timestamp,
  WhatsAppAccountId,
  wholeNumber,
  withExample,
} from '../fields.ts'
import { procedure } from '../procedure.ts'
import { OneTimeCode } from './components.ts'
import { SentMessage } from './message.ts'

/** Fixed limits of one-time codes. Each time window starts with the first request that counts towards the limit. */
export const codeLimits = {
  sendsPerRecipientAndHour: 5,
  secondsBetweenSends: 30,
  sendsPerClientIpAndHour: 20,
  wrongChecksPerClientIpAndHour: 30,
  maxExpirySeconds: 3600,
} as const

const Purpose = withExample(
  singleLine(64).default('default'),
  'What the code is for. Codes for different purposes are independent; limits count them together.',
  'sign-in',
)

/** One pattern instead of the formats `ipv4` and `ipv6`, because generated clients would have a type for each. */
const [ipv4, ipv6] = [z.regexes.ipv4, z.regexes.ipv6].map(({ source }) => source.replace(/^\^/, '').replace(/\$$/, ''))
const address = new RegExp(`^(?:${ipv4}|${ipv6}|::(?:[fF]{4}(?::0{1,4})?:)?${ipv4})$`)

const ClientIp = withExample(
  textUpTo(64).regex(address, 'must be an IP address, such as 203.0.113.7 or 2001:db8::7').optional(),
  'IP address of your user, not of your server. Requests are also limited by this address; an IPv6 address counts with its /64 network.',
  '203.0.113.7',
)

const example = { to: '34600111222', purpose: 'sign-in', clientIp: '203.0.113.7' }

export const sendCode = procedure({
  kind: 'mutation',
  budget: 'sends',
  path: '/api/v1/code/send',
  tag: 'Codes',
  summary: 'Send a one-time code',
  description:
    'Generates a one-time code, or takes yours, sends it with an AUTHENTICATION template and remembers it until it is checked, replaced or expired. Only a keyed hash is stored, and the code is never returned. A new code for the same recipient and purpose replaces the one before, if it was sent. With an `Idempotency-Key`, a retry returns the stored result and never sends twice. Without one, the same request within 30 seconds returns the code that is on its way.',
  input: z.strictObject({
    to: PhoneNumber,
    template: withExample(TemplateName, 'Name of an approved AUTHENTICATION template.', 'login_code'),
    language: LanguageCode,
    purpose: Purpose,
    code: OneTimeCode.optional().describe('A code of your own. When absent, digits are generated.'),
    length: wholeNumber(4, 10).default(6).describe('Number of digits of a generated code, 4 to 10.'),
    expiresInSeconds: wholeNumber(60, codeLimits.maxExpirySeconds)
      .default(600)
      .describe(
        'How long the code can be checked, 60 to 3600 seconds. Choose what the template says about its expiry, if it does.',
      ),
    maxAttempts: wholeNumber(1, 10).default(5).describe('How often the code can be checked, 1 to 10 times.'),
    clientIp: ClientIp,
    externalId: ExternalId.optional(),
    accountId: WhatsAppAccountId.optional(),
  }),
  output: SentMessage.extend({
    expiresAt: Timestamp.describe('When the code expires.'),
    resendAt: Timestamp.describe('When another code can be sent to this recipient, unless a limit is reached.'),
  })
    .describe('A one-time code that WhatsApp accepted.')
    .meta({ id: 'SentCode' }),
  errors: [
    'TEMPLATE_NOT_FOUND',
    'NO_ACTIVE_ACCOUNT',
    'MESSAGE_REJECTED',
    'RECIPIENT_SUPPRESSED',
    'CODE_LIMIT_EXCEEDED',
    'IDEMPOTENCY_KEY_IN_USE',
    'IDEMPOTENCY_KEY_REUSED',
    'WHATSAPP_THROTTLED',
    'WHATSAPP_UNAVAILABLE',
    'SEND_OUTCOME_UNKNOWN',
  ],
  idempotent: true,
  example: {
    input: { ...example, template: 'login_code', language: 'en' },
    output: {
      messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye',
      waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
      status: 'sent',
      to: '34600111222',
      template: 'login_code',
      expiresAt: '2026-11-20T09:40:00.000Z',
      resendAt: '2026-11-20T09:30:30.000Z',
    },
  },
})

export const checkCode = procedure({
  kind: 'mutation',
  budget: 'changes',
  path: '/api/v1/code/check',
  tag: 'Codes',
  summary: 'Check a one-time code',
  description:
    'Checks what a user typed against the latest code that was sent to the recipient for the purpose. A right code is accepted once. Every check counts as an attempt, also of concurrent requests.',
  input: z.strictObject({
    to: PhoneNumber.describe('The recipient of the code, written as in `code.send`.'),
    code: withExample(nonEmptyText(64), 'What the user typed.', '481516'),
    purpose: Purpose,
    clientIp: ClientIp,
  }),
  output: namedObject('CheckedCode', 'A one-time code that was right.', {
    verified: z.literal(true).describe('The code is right. A wrong code is an error.'),
    to: responseField(PhoneNumber).describe('The number that the recipient has verified.'),
    purpose: withExample(z.string(), 'What the code was for.', 'sign-in'),
  }),
  errors: ['CODE_NOT_FOUND', 'CODE_INCORRECT', 'CODE_EXPIRED', 'CODE_ATTEMPTS_EXCEEDED', 'CODE_LIMIT_EXCEEDED'],
  example: {
    input: { ...example, code: '481516' },
    output: { verified: true, to: '34600111222', purpose: 'sign-in' },
    errors: {
      CODE_LIMIT_EXCEEDED: 'clientIp: too many wrong codes came from this address. Try again in 1800 seconds.',
    },
  },
})
