import { z } from 'zod'

/**
 * Meta's payloads, in Meta's words (reference, sections 1 to 3 and 5). Meta adds fields and values
 * at any time, so only what we read is named, and what we can do without may be of any kind.
 */

function lenient<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined)
}

const Text = z.string()

export const GraphError = z.object({
  code: z.coerce.number().int(),
  message: Text.catch(''),
  error_subcode: lenient(z.coerce.number()),
  /** An object, in old replies a string, on plain Graph errors absent. */
  error_data: lenient(z.union([z.object({ details: lenient(Text) }), Text])),
  error_user_msg: lenient(Text),
  is_transient: lenient(z.boolean()),
})
export type GraphError = z.infer<typeof GraphError>

export const ErrorBody = z.object({ error: GraphError })

/** Accepted for processing; `contacts` and `message_status` are of no use to us. */
export const SendResponse = z.object({
  messages: z.tuple([z.object({ id: Text.min(1) })], z.unknown()),
})

export const TemplateComponent = z.looseObject({
  type: Text,
  format: lenient(Text),
  text: lenient(Text),
  buttons: lenient(z.array(z.looseObject({ type: Text, text: lenient(Text), url: lenient(Text) }))),
  example: lenient(
    z.looseObject({
      body_text: lenient(z.array(z.array(Text))),
      body_text_named_params: lenient(z.array(z.object({ param_name: Text, example: Text }))),
    }),
  ),
})

export const Template = z.object({
  id: z.coerce.string(),
  name: Text,
  language: Text,
  status: Text,
  category: lenient(Text),
  parameter_format: Text.catch('POSITIONAL'),
  components: z.array(TemplateComponent),
  quality_score: lenient(z.object({ score: lenient(Text) })),
  rejected_reason: lenient(Text),
})
export type Template = z.infer<typeof Template>

/** The items are parsed one by one: one that we cannot read must not hide the others. */
export const Page = z.object({
  data: z.array(z.unknown()),
  paging: lenient(z.object({ cursors: lenient(z.object({ after: lenient(Text) })), next: lenient(Text) })),
})

/** One of the list of a WhatsApp Business Account. */
export const ListedNumber = z.object({ id: z.coerce.string() })

export const PhoneNumber = z.object({
  display_phone_number: lenient(Text),
  verified_name: lenient(Text),
  status: lenient(Text),
  quality_rating: lenient(Text),
  throughput: lenient(z.object({ level: lenient(Text) })),
})

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** Numeric ids become their own source text: above 2^53 a number would lose digits (reference, 4.4). */
const keepIds: SourceReviver = (key, value, context) =>
  key === 'id' && typeof value === 'number' ? context.source : value

/** Only with one of these, or with an escaped letter in its key, is there anything to keep. */
const numericId = /"id"\s*:\s*-?\d|\\u00/

/** `undefined` for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    if (!numericId.test(text)) return JSON.parse(text)
    // TypeScript's library does not know the third argument yet (ECMA-262, JSON.parse source text access).
    return JSON.parse(text, keepIds as Parameters<typeof JSON.parse>[1])
  } catch {
    return undefined
  }
}
