import { z } from 'zod'
import { IdempotencyKey } from '../../../contracts/fields.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { inlineDefinitions } from '../../platform/json-schema.ts'
import type { ApiCall } from '../api/authorize.ts'
import type { ServedProcedure } from '../api/procedures.ts'

/** A procedure as a Model Context Protocol tool. */
export interface Tool {
  procedure: ServedProcedure<ApiProcedure, ApiCall>
  /** What the tool takes: the input of the procedure, and the idempotency key of a send. */
  input: z.ZodObject
  description: ToolDescription
}

/** What `tools/list` says about a tool. */
export interface ToolDescription {
  name: string
  title: string
  description: string
  inputSchema: ObjectSchema
  outputSchema: ObjectSchema
  annotations: Annotations
}

type ObjectSchema = { type: 'object'; [keyword: string]: unknown }

interface Annotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** Mutations that change nothing. Every other one is announced as destructive, so that a new one is too. */
const harmlessMutations: ReadonlySet<string> = new Set(['message.preview'])

/** Makes a tool of each procedure: `message.send` becomes `message_send`, since some models take no dots. */
export function listTools(procedures: readonly ServedProcedure<ApiProcedure, ApiCall>[]): Tool[] {
  return procedures.map((procedure) => {
    const { name, contract } = procedure
    const input = contract.idempotent ? contract.input.safeExtend({ idempotencyKey: IdempotencyKey }) : contract.input
    return {
      procedure,
      input,
      description: {
        name: name.replaceAll('.', '_'),
        title: contract.summary,
        description: contract.description,
        inputSchema: toSchema(input, 'input'),
        outputSchema: toSchema(contract.output, 'output'),
        annotations: annotate(name, contract),
      },
    }
  })
}

function annotate(name: string, { kind, idempotent }: ApiProcedure): Annotations {
  const isReadOnly = kind === 'query' || harmlessMutations.has(name)
  return {
    readOnlyHint: isReadOnly,
    destructiveHint: !isReadOnly,
    // With the same key, which the tool requires, a second call sends nothing.
    idempotentHint: isReadOnly || idempotent,
    openWorldHint: !isReadOnly,
  }
}

/** The JSON Schema of a contract without references, which many models' APIs do not follow. */
function toSchema(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  // The dialect is the protocol's own.
  const {
    $defs: definitions = {},
    $schema: _,
    ...root
  } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => loosen(jsonSchema, io),
  })
  // Every input and output of a contract is an object.
  return inlineDefinitions(root, definitions) as ObjectSchema
}

/** Every model reads this, so it says nothing twice. An answer can gain fields. */
function loosen(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
  delete schema.propertyNames
  if (schema.format === 'date-time') delete schema.pattern
}
