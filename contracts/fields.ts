import { z } from 'zod'

/** PostgreSQL keeps no NUL, and no reference or name has a use for the other control characters. */
const noControlCharacters = /^[^\u0000-\u001f\u007f]*$/

/** One line of text, such as a name or a reference. */
export function line(maxLength: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .max(maxLength, `must have at most ${maxLength} characters`)
    .regex(noControlCharacters, 'must not contain control characters')
}

/** Spec, send-message request, field `to`. Seven to fifteen digits: ITU-T E.164. */
export const PhoneNumber = z
  .string()
  .regex(
    /^[1-9][0-9]{6,14}$/,
    'must be the country code followed by the number, 7 to 15 digits only: no +, no spaces, no hyphens, no leading zero (for example 34600111222)',
  )
  .describe('Recipient phone number: country code followed by the number, digits only. No `+`, spaces or hyphens.')

/** WhatsApp's language codes: `en`, `en_US`, `prs_AF`. */
export const LanguageCode = z
  .string()
  .regex(/^[a-z]{2,3}(_[A-Z]{2})?$/, 'must be a template language code such as en or en_US (with an underscore)')
  .describe('Template language code, such as `en` or `en_US`. `en` and `en_US` are different templates.')

export const TemplateName = line(512).describe('Name of the template, as WhatsApp lists it.')

export const ExternalId = line(255).describe("The caller's own reference. Returned in the response and in webhooks.")

export const AccountId = line(64).describe('ID of the WhatsApp account. When absent, the default account is used.')

export const MessageId = line(64).describe('Message ID of this service.')

export const WaMessageId = z
  .string()
  .describe('Message ID assigned by WhatsApp. It contains the recipient number: treat it as personal data.')

export const Timestamp = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 time with its zone, such as 2026-11-20T09:30:00Z',
})

export const Cursor = line(1024).describe('`nextCursor` of the page before. Leave out for the first page.')

export const PageLimit = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(100, 'must be at most 100')
  .default(20)
  .describe('Items per page, 1 to 100.')
