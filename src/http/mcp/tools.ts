import { z } from 'zod'
import { IdempotencyKey } from '../../../contracts/fields.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { inlineDefinitions } from '../../platform/json-schema.ts'
import type { ApiCall } from '../api/authorize.ts'
import type { ServedProcedure } from '../../pipeline/procedures.ts'

/** A procedure as a Model Context Protocol tool. */
export interface Tool {
  procedure: ServedProcedure<ApiProcedure, ApiCall>
  /** The tool's input: that of the procedure, plus the idempotency key if it takes one. */
  input: z.ZodObject
  description: ToolDescription
}

/** A tool in the response to `tools/list`. */
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

/** Creates a tool from each procedure. `message.send` becomes `message_send`, because some models do not accept dots. */
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
        annotations: annotate(contract),
      },
    }
  })
}

function annotate({ readOnly: isReadOnly, idempotent }: ApiProcedure): Annotations {
  return {
    readOnlyHint: isReadOnly,
    destructiveHint: !isReadOnly,
    // The tool requires an idempotency key; a second call with the same key sends nothing.
    idempotentHint: isReadOnly || idempotent,
    openWorldHint: !isReadOnly,
  }
}

/** Returns the JSON Schema of a contract with references inlined, because many model APIs do not resolve them. */
function toSchema(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  // `$schema` is omitted, because the protocol defines the dialect.
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

/** Removes redundant keywords, because models read every schema, and lets outputs gain fields. */
function loosen(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
  delete schema.propertyNames
  if (schema.format === 'date-time') delete schema.pattern
}
