import { z } from 'zod'
import { ErrorData, lenient, toStorable, WireId, WireNumber, WireWord } from '../wire-values.ts'

/**
 * Meta's payloads, in Meta's terms (reference, sections 1 to 3 and 5). Meta adds fields and values at any time, so only
 * the fields that are read are declared, and optional ones accept any type.
 */

const Text = z.string()

export const GraphError = z.object({
  code: WireNumber.pipe(z.int()),
  message: Text.catch(''),
  error_subcode: lenient(WireNumber),
  /** Absent in plain Graph errors. */
  error_data: lenient(ErrorData),
  error_user_msg: lenient(Text),
  is_transient: lenient(z.union([z.boolean(), z.stringbool()])),
})
export type GraphError = z.infer<typeof GraphError>

/** Gateways in front of the Graph API may pass on a list. */
export const ErrorBody = z.union([
  z.object({ error: GraphError }),
  z
    .object({ errors: z.array(z.unknown()) })
    .transform(({ errors }) => ({ error: errors[0] }))
    .pipe(z.object({ error: GraphError })),
])

const Message = z.object({ message: Text.min(1) }).transform(({ message }) => message)

/** The text of an error whose code is absent or unreadable, in the forms that gateways write. */
export const UncodedErrorBody = z.union([
  z.object({ error: z.union([Message, Text.min(1)]) }).transform(({ error }) => error),
  Message,
])

export const UploadResponse = z.object({ id: Text.regex(/^\d+$/) })

export const DeleteResponse = z.object({ success: lenient(z.boolean()), error: lenient(GraphError) })

/** Keeps the place of a part that cannot be read. A template with such a component cannot be sent. */
const unreadable = { type: 'UNREADABLE' }

const TemplateButton = z.looseObject({ type: WireWord, text: lenient(Text), url: lenient(Text) }).catch(unreadable)

const componentShape = {
  type: WireWord,
  format: lenient(WireWord),
  text: lenient(Text),
  buttons: lenient(z.array(TemplateButton)),
  example: lenient(
    z.looseObject({
      body_text: lenient(z.array(z.array(Text))),
      body_text_named_params: lenient(z.array(z.object({ param_name: Text, example: Text }))),
    }),
  ),
}

const CardComponent = z.looseObject(componentShape).catch(unreadable)

const TemplateComponent = z
  .looseObject({
    ...componentShape,
    cards: lenient(z.array(z.looseObject({ components: z.array(CardComponent).catch([unreadable]) }))),
  })
  .catch(unreadable)

export const Template = z.object({
  id: WireId,
  name: Text,
  language: Text,
  status: WireWord.catch('UNREADABLE'),
  category: lenient(WireWord),
  /** Another category than `category` if WhatsApp will change it. */
  correct_category: lenient(WireWord),
  parameter_format: lenient(WireWord),
  components: z.array(TemplateComponent).catch([unreadable]),
  quality_score: lenient(z.object({ score: lenient(WireWord) })),
  rejected_reason: lenient(Text.min(1)),
  message_send_ttl_seconds: lenient(WireNumber),
  source: lenient(WireWord),
})
export type Template = z.infer<typeof Template>

/** Items are parsed one by one, so that an unreadable item does not hide the others. */
export const Page = z.object({
  data: z.array(z.unknown()),
  paging: lenient(
    z.object({ cursors: lenient(z.object({ after: lenient(Text.min(1)) })), next: lenient(Text.min(1)) }),
  ),
})

/** A number in the list of a WhatsApp Business Account. */
export const ListedNumber = z.object({ id: WireId })

export const PhoneNumber = z.object({
  display_phone_number: lenient(Text),
  verified_name: lenient(Text),
  status: lenient(Text),
  quality_rating: lenient(Text),
  throughput: lenient(z.object({ level: lenient(Text) })),
})

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** Keeps numeric IDs as source text, because a number above 2^53 would lose digits (reference, 4.4). */
const keepIds: SourceReviver = (key, value, context) =>
  key === 'id' && typeof value === 'number' ? context.source : value

/** Only bodies with a numeric ID, or with an escaped key, need the reviver. */
const numericId = /"id"\s*:\s*-?\d|\\u00/

/** Escapes of NUL and of surrogates, which occur in pairs too. */
const unstorable = /\\u(?:0000|d[89a-f])/i

/** Returns undefined if the text is not JSON. Its texts can be stored. */
export function parseJson(text: string): unknown {
  try {
    // TypeScript's library does not declare the third argument yet (ECMA-262, JSON.parse source text access).
    const revive = numericId.test(text) ? (keepIds as Parameters<typeof JSON.parse>[1]) : undefined
    const value: unknown = JSON.parse(text, revive)
    return unstorable.test(text) ? makeStorable(value) : value
  } catch {
    return undefined
  }
}

/** Includes the keys, because the parts of templates are stored with keys that are not declared. */
function makeStorable(value: unknown): unknown {
  if (typeof value === 'string') return toStorable(value)
  if (Array.isArray(value)) return value.map(makeStorable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [toStorable(key), makeStorable(item)]))
}

/** The answer to a deletion from the contact book (autumn reference, section 2.6). */
export const DeletedContact = z.object({ success: z.literal(true), deleted: z.boolean() })
