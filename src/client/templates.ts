import type { z } from 'zod'
import type { SendMessageRequest, templateValues } from '../../contracts/api/message.ts'
import type { ApiProcedure } from '../../contracts/procedure.ts'

/**
 * The approved templates of the account by name and language, each with the fields of a send that depend on it. Empty, so
 * that any template compiles, until `waybill-client types` generates a file that extends it.
 */
export interface ApprovedTemplates {}

type AnySend = z.input<typeof SendMessageRequest>

/** The fields that depend on the template. All other fields are the same for every template. */
type TemplateField = 'template' | 'language' | keyof typeof templateValues

type Merge<T> = { [Key in keyof T]: T[Key] }

/** A union with one member per template and language, discriminated by `template` and `language`. */
type TypedSend = {
  [Name in keyof ApprovedTemplates]: {
    [Language in keyof ApprovedTemplates[Name]]: Merge<
      { template: Name; language: Language } & ApprovedTemplates[Name][Language] & Omit<AnySend, TemplateField>
    >
  }[keyof ApprovedTemplates[Name]]
}[keyof ApprovedTemplates]

/** A send needs one of the two. The contract can only check it, because its fields are those of one object. */
type Addressed = { recipient: string } | { to: string }

/** The input of `message.send` and `message.preview`. */
export type SendMessageInput = ([keyof ApprovedTemplates] extends [never] ? AnySend : TypedSend) & Addressed

export type InputOfCall<C extends ApiProcedure> = C['input'] extends typeof SendMessageRequest
  ? SendMessageInput
  : z.input<C['input']>
