import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { type Operation, type Parameter, refer, type RequestBody, type Schema } from './document.ts'
import { writeResponses } from './responses.ts'
import { simplify } from './schemas.ts'

/** Completes the generator's draft of an operation with the more precise information from its contract. */
export function writeOperation(
  draft: Operation,
  name: string,
  contract: ApiProcedure,
  schemas: Record<string, Schema>,
): Operation {
  const parameters = draft.parameters?.map((parameter) => writeParameter(parameter, contract, schemas)) ?? []
  return {
    operationId: nameOperation(name),
    summary: contract.summary,
    description: contract.description,
    tags: [contract.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(draft.requestBody && { requestBody: writeRequestBody(draft.requestBody, contract) }),
    responses: writeResponses(contract, readSuccessSchema(draft)),
    'x-error-codes': contract.errors,
  }
}

/** `message.send` becomes `sendMessage`, and `message.list` becomes `listMessages`. */
function nameOperation(name: string): string {
  // The only procedure that is not named after a verb.
  if (name === 'account.health') return 'getAccountHealth'
  const [resource = '', verb = ''] = name.split('.')
  const noun = resource.charAt(0).toUpperCase() + resource.slice(1)
  return `${verb}${noun}${verb === 'list' ? 's' : ''}`
}

/** Takes the description from the field, because the generator uses that of the type inside `.optional()`. */
function writeParameter(
  draft: Parameter,
  { input, example }: ApiProcedure,
  schemas: Record<string, Schema>,
): Parameter {
  const { description = '', examples, ...schema } = inline(draft.schema, schemas)
  const given: Record<string, unknown> = example.input
  const field = input.shape[draft.name]
  const [value] = [given[draft.name] ?? field?.meta()?.examples ?? examples ?? []].flat()
  return {
    name: draft.name,
    in: draft.in,
    ...(draft.required && { required: true }),
    description: field?.description ?? description,
    schema: simplify(schema),
    // By default, Scalar sends optional parameters that have an example. The key belongs into every sample of a send.
    ...(value !== undefined && {
      examples: { default: draft.required || draft.in === 'header' ? { value } : { value, 'x-disabled': true } },
    }),
  }
}

/** Inlines a named schema: the shared one is for responses and allows future values, but a request only accepts current ones. */
function inline(schema: Schema, schemas: Record<string, Schema>): Schema {
  return schemas[schema.$ref?.replace('#/components/schemas/', '') ?? ''] ?? schema
}

/** Replaces the body schema, which the generator inlines, by a reference to the named schema. A file comes in a form. */
function writeRequestBody(draft: RequestBody, { input, example, fileField }: ApiProcedure): RequestBody {
  const name = input.meta()?.id
  const inner = readJsonSchema(draft) ?? {}
  if (fileField !== undefined)
    return { required: true, content: { 'multipart/form-data': { schema: writeForm(inner, fileField) } } }
  const schema = name === undefined ? inner : refer('schemas', name)
  return {
    required: true,
    content: { 'application/json': { schema, examples: { default: { value: example.input } } } },
  }
}

function writeForm(fields: Schema, fileField: string): Schema {
  return simplify({
    type: 'object',
    properties: { [fileField]: { type: 'string', format: 'binary', description: 'The file.' }, ...fields.properties },
    required: [fileField],
    additionalProperties: false,
  })
}

function readSuccessSchema({ responses: { 200: success } }: Operation): Schema {
  return success && 'content' in success ? success.content['application/json'].schema : {}
}

export function readJsonSchema({ content }: RequestBody): Schema | undefined {
  return 'application/json' in content ? content['application/json'].schema : undefined
}
