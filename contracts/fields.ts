import { z } from 'zod'
import { problems } from './facts/problems.ts'

/**
 * PostgreSQL cannot store NUL, and no reference or name needs the other control characters. Patterns use `\x00` because
 * PHP's regular expressions do not support `\u0000`.
 */
export const noControlCharacters = /^[^\x00-\x1f\x7f]*$/

/** Text with at most this many characters. */
export function textUpTo(maxLength: number) {
  return z.string().max(maxLength, problems.atMostCharacters({ maxLength }))
}

/** The same, but not empty. */
export function nonEmptyText(maxLength: number) {
  return z.string().min(1, problems.empty()).max(maxLength, problems.atMostCharacters({ maxLength }))
}

export function wholeNumber(min: number, max: number) {
  return z.int(problems.wholeNumber()).min(min, problems.atLeast({ min })).max(max, problems.atMost({ max }))
}

/** One line of text, such as a name or a reference. */
export function singleLine(maxLength: number) {
  return nonEmptyText(maxLength).regex(noControlCharacters, problems.controlCharacters())
}

/** ID of an account (the customer), such as `acc_01kah39zr4e8m5n6p7q8s9t0vw`. */
export const AccountId = singleLine(64)

/** The public address of a file. Parsers of URLs skip slashes where the host is empty, and take the path for the host. */
export const publicAddress = /^https?:\/\/[^\s\x00-\x1f\x7f/\\?#][^\s\x00-\x1f\x7f]*$/

/** A field with its description and an example. They belong to the schema as given, so `optional` stays inside. */
export function withExample<Schema extends z.ZodType>(schema: Schema, description: string, example: z.input<Schema>) {
  return schema.meta({ description, examples: [example] })
}

/** An object that `openapi.json` shows under this name. */
export function namedObject<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) {
  return z.object(shape).meta({ id, description })
}

/** An object that `openapi.json` shows under this name, and that has no other fields. */
export function namedStrictObject<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) {
  return z.strictObject(shape).meta({ id, description })
}

/**
 * The same field in a response: its description and example without its validation rules, so that generated clients
 * accept values that WhatsApp adds later.
 */
export function responseField(field: z.ZodString): z.ZodString {
  return z.string().meta({ ...field.meta() })
}

/** The schema of a field that is given: without `optional`, `default` and `nullable`. */
export function unwrapSchema(field: unknown): unknown {
  const isWrapper = field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable
  return isWrapper ? unwrapSchema(field.def.innerType) : field
}

/** Two letters of a country, `ENT.` for a parent ID, and up to 128 letters and digits. Upper and lower case differ. */
export const userIdPattern = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/

const numberRule = problems.phoneNumber()

/** How many digits a number has, with its country code: ITU-T E.164. */
export const phoneNumberDigits = { min: 7, max: 15 }

export const PhoneNumber = withExample(
  z.string().regex(new RegExp(`^[1-9][0-9]{${phoneNumberDigits.min - 1},${phoneNumberDigits.max - 1}}$`), {
    error: ({ input }) =>
      userIdPattern.test(String(input)) ? `${numberRule}. A user ID belongs in the field recipient` : numberRule,
  }),
  'Recipient phone number: country code followed by the number, digits only. No `+`, spaces or hyphens.',
  '34600111222',
)

/** WhatsApp's ID of a person who may hide the number. */
export const UserId = withExample(
  z
    .string()
    .regex(
      userIdPattern,
      'must be a user ID as WhatsApp reports it: two capital letters, a dot, and letters and digits (for example ES.2041776300912345)',
    ),
  "WhatsApp's business-scoped user ID of the recipient, or the parent ID, for people who hide their number. Ignored if `to` is set.",
  'ES.2041776300912345',
)

/** In lists of recipients. A number cannot be mistaken for a user ID, which has a dot. */
export const ImportedRecipient = z
  .string()
  .regex(
    new RegExp(`^[1-9][0-9]{6,14}$|${userIdPattern.source}`),
    `${numberRule}, or a user ID such as ES.2041776300912345`,
  )

/** Requires one of the fields `to` and `recipient`. */
export function requireRecipient<Fields extends z.core.$ZodLooseShape>(
  schema: z.ZodObject<Fields, z.core.$strict>,
): z.ZodObject<Fields, z.core.$strict> {
  return schema.refine((value) => isSet(value, 'to') || isSet(value, 'recipient'), {
    path: ['to'],
    error: 'is required; for someone who hides the number, set recipient to the user ID instead',
    // Also reported if another field is invalid.
    when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
  })
}

function isSet(value: object, key: string): boolean {
  return value[key as keyof typeof value] !== undefined
}

/** In answers and events. */
export const KnownUserId = withExample(
  z.string(),
  "WhatsApp's business-scoped user ID of the recipient; present only if WhatsApp has reported it. Another business portfolio has another ID for the same person. Treat it as personal data.",
  'ES.2041776300912345',
)

/** In answers and events. */
export const AddressedUserId = responseField(UserId).describe(
  'The user ID that the message was sent to; present only if it was not sent to a number. `to` has the same value.',
)

/** In answers and events. */
export const WaId = withExample(
  z.string(),
  "The recipient's number as WhatsApp writes it; present only if it differs from `to`.",
  '5215512345678',
)

/** Replaces the number of an erased recipient (GDPR, article 17). */
export const erasedRecipient = 'erased'

/** WhatsApp's language codes: `en`, `en_US`, `prs_AF`. */
export const LanguageCode = withExample(
  z.string().regex(/^[a-z]{2,3}(_[A-Z]{2})?$/, problems.language()),
  'Template language code. `en` and `en_US` are different templates.',
  'en',
)

export const TemplateName = withExample(singleLine(512), 'Name of the template, as WhatsApp lists it.', 'order_shipped')

export const ExternalId = withExample(
  singleLine(255),
  "The caller's own reference. Returned in the response and in webhooks.",
  'order-1042',
)

/** The number of the sandbox has this ID, so that the examples of the document can be sent there as they are. */
export const exampleWhatsAppAccountId = 'wa_01kah39zr4e8m5n6p7q8s9t0vw'

export const WhatsAppAccountId = withExample(
  singleLine(64),
  'ID of the WhatsApp account. When absent, the default account is used.',
  exampleWhatsAppAccountId,
)

export const MessageId = withExample(singleLine(64), 'Message ID of this service.', 'msg_01kah3b9mzf5vt2d0wq8r6x4ye')

/**
 * A message ID in a path. `openapi.json` shows a pattern, so that tools do not confuse other routes with an ID. The
 * pattern is not enforced: an ID that does not match returns "not found".
 */
export const MessageIdInPath = MessageId.meta({ pattern: '^msg_[0-9a-z]{26}$' })

export const MediaId = withExample(singleLine(64), 'ID of an uploaded file.', 'med_01kah3b9mzf5vt2d0wq8r6x4ye')

export const WaMessageId = withExample(
  z.string(),
  'Message ID assigned by WhatsApp. It contains the recipient number: treat it as personal data. Empty when it is not known, or after the recipient was erased.',
  'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
)

/** The code of a failure for which WhatsApp gave no reason, in events and in filters. */
export const unknownCode = 'UNKNOWN'

/** The code of a failed message: WhatsApp's, one of ours, or `UNKNOWN`. */
export const FailureCode = z
  .string()
  .regex(/^(\d{1,9}|[A-Z][A-Z_]{0,63})$/, problems.failureCode())
  .meta({ examples: ['131026'] })

const [firstYear, lastYear] = [1970, 9998]
const firstTime = `${firstYear}-01-01T00:00:00.000Z`
const lastTime = `${lastYear}-12-31T23:59:59.999Z`

/**
 * JavaScript and PostgreSQL write years outside of these in different ways, and a time zone may shift a time by a day. Clients
 * send such times for the first and the last of all.
 */
function toStorableTime(time: string): string {
  const at = Date.parse(time)
  if (at < Date.parse(firstTime)) return firstTime
  return at > Date.parse(lastTime) ? lastTime : time
}

/** A day such as `2026-11-20`. */
export const Day = z.iso.date().refine((day) => {
  const year = Number(day.slice(0, 4))
  return year >= firstYear && year <= lastYear
}, `must be in the years ${firstYear} to ${lastYear}`)

const timeRule = 'must be an ISO 8601 time with its zone, such as 2026-11-20T09:30:00Z'
/** The plus sign of an offset in a query string, which is a space unless it is encoded. */
const spaceBeforeOffset = / \d\d:\d\d$/

export const Timestamp = z.iso
  .datetime({
    offset: true,
    error: ({ input }) =>
      typeof input === 'string' && spaceBeforeOffset.test(input) ? `${timeRule}; write + as %2B in a URL` : timeRule,
  })
  .overwrite(toStorableTime)
  .meta({ examples: ['2026-11-20T09:30:00.000Z'] })

const notACursor = 'must be the nextCursor of the previous page: leave it out for the first page'

/** The cursor of a list, with the pattern that `openapi.json` shows. It has no second one: ogen cannot merge two. */
export function cursor(pattern: RegExp) {
  return z
    .string()
    .max(1024, notACursor)
    .regex(pattern, notACursor)
    .describe('`nextCursor` of the previous page. Leave out for the first page.')
}

/** The cursor of a list whose items have IDs with this prefix: it is the ID of the last item seen. */
export function idCursor(prefix: string) {
  return cursor(new RegExp(`^${prefix}_[0-9a-z]{26}$`))
}

export const NextCursor = z
  .string()
  .describe('Pass as `cursor` to get the next page; absent on the last one. Opaque: its content may change.')

export const PageLimit = withExample(wholeNumber(1, 100).default(20), 'Items per page, 1 to 100.', 20)

/** Printable ASCII, the characters that are safe in header fields (RFC 9110, 5.5). */
export const IdempotencyKey = withExample(
  z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must have 1 to 255 printable ASCII characters'),
  'A key of your own that makes a retry safe: the same request with the same key is sent once, and the retry returns the stored result. Kept for 24 hours, per account. Bare or in double quotes.',
  'order-1042-shipped',
)
