import { z } from 'zod'
import { IdempotencyKey, noControlCharacters } from '../../../contracts/fields.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import type { ServedProcedure } from '../../pipeline/procedures.ts'
import { inlineDefinitions } from '../../platform/json-schema.ts'
import type { ApiCall } from '../api/authorize.ts'

/** A procedure as a Model Context Protocol tool. */
export interface Tool {
  procedure: ServedProcedure<ApiProcedure, ApiCall>
  /** The tool's input: that of the procedure, plus the idempotency key if it takes one. */
  input: z.ZodObject
  description: ToolDescription
}

/**
 * A tool in the response to `tools/list`. It has no `outputSchema`: models read the whole list before they call anything,
 * and a result explains itself.
 */
export interface ToolDescription {
  name: string
  title: string
  description: string
  inputSchema: ObjectSchema
  annotations: Annotations
}

type ObjectSchema = { type: 'object'; [keyword: string]: unknown }

interface Annotations {
  readOnlyHint?: true
  idempotentHint?: true
  openWorldHint?: false
}

/** Creates a tool from each procedure. `message.send` becomes `message_send`, because some models do not accept dots. */
export function listTools(procedures: readonly ServedProcedure<ApiProcedure, ApiCall>[]): Tool[] {
  const spell = speller(procedures)
  const texts = { explained: new Map<string, string>(), shown: new Set<string>(), spell }
  return procedures.map((procedure) => {
    const { contract } = procedure
    const name = procedure.name.replaceAll('.', '_')
    const input = contract.idempotent ? contract.input.safeExtend({ idempotencyKey: IdempotencyKey }) : contract.input
    return {
      procedure,
      input,
      description: {
        name,
        title: contract.summary,
        description: spell(contract.description),
        inputSchema: toSchema(name, input, texts),
        annotations: annotate(contract),
      },
    }
  })
}

/** Texts of contracts name procedures and a header. A model knows tools and arguments. */
function speller(procedures: readonly { name: string }[]): (text: string) => string {
  const names = new RegExp(`\\b(?:${procedures.map(({ name }) => name.replace('.', '[.]')).join('|')})\\b`, 'g')
  return (text) =>
    text.replaceAll(names, (name) => name.replace('.', '_')).replaceAll('Idempotency-Key', 'idempotencyKey')
}

/** Only what differs from the defaults of the protocol: a tool changes data, destructively and outside of this service. */
function annotate({ readOnly: isReadOnly, idempotent }: ApiProcedure): Annotations {
  if (isReadOnly) return { readOnlyHint: true, openWorldHint: false }
  // The tool requires an idempotency key; a second call with the same key sends nothing.
  return idempotent ? { idempotentHint: true } : {}
}

interface Texts {
  /** The tools that explain definitions, by the definition's name. */
  explained: Map<string, string>
  /** Examples that the list has shown. */
  shown: Set<string>
  spell: (text: string) => string
}

/**
 * Returns the JSON Schema of an input without references, which many model APIs do not resolve. A definition is placed
 * where the list uses it first; later uses name that tool.
 */
function toSchema(tool: string, schema: z.ZodType, texts: Texts): ObjectSchema {
  // `$schema` is omitted, because the protocol defines the dialect.
  const {
    $defs: definitions = {},
    $schema: _,
    ...root
  } = z.toJSONSchema(schema, { io: 'input', override: ({ jsonSchema }) => shorten(jsonSchema, texts) })
  const find = (name: string) => {
    const definition = definitions[name]
    const place = texts.explained.get(name)
    if (place === undefined) texts.explained.set(name, tool)
    return place === undefined
      ? { title: name, ...definition }
      : { type: definition?.type, title: name, description: `As in ${place}.` }
  }
  // Every input is an object, whose own fields are always listed.
  const own = typeof root.$ref === 'string' ? definitions[root.$ref.replace('#/$defs/', '')] : root
  return inlineDefinitions({ ...own }, find) as ObjectSchema
}

/** Those of IP addresses have 600 characters, and say less than their description. */
const maxPatternLength = 200

/** Removes what a model does not need to write an input. The contract still checks it. */
function shorten(schema: z.core.JSONSchema.BaseSchema, { shown, spell }: Texts): void {
  if (schema.description !== undefined) schema.description = spell(schema.description)
  delete schema.propertyNames
  const { pattern = '' } = schema
  if (schema.format === 'date-time' || pattern === noControlCharacters.source || pattern.length > maxPatternLength)
    delete schema.pattern
  if (schema.minLength === 1) delete schema.minLength
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  // The fields of an object and the items of an array have examples of their own, and one of each is enough.
  const hasFields = schema.properties !== undefined && schema.additionalProperties === false
  const example = JSON.stringify(schema.examples)
  if (hasFields || schema.type === 'array' || schema.enum || shown.has(example)) delete schema.examples
  else shown.add(example)
  if (schema.additionalProperties === false) delete schema.additionalProperties
}
