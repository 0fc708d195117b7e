import { STATUS_CODES } from 'node:http'
import { ErrorResponse } from '../../../contracts/envelope.ts'
import { type ApiErrorCode, apiErrorCodes, describeError, type ErrorCode } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { capitalize } from '../../platform/text.ts'
import {
  type Header,
  isReference,
  type Operation,
  type Parameter,
  refer,
  type Reference,
  type RequestBody,
  type Response,
  type Schema,
} from './document.ts'
import { listNamedSchemas, mapValues, simplify, writeResponseSchema } from './schemas.ts'

/** Completes the generator's draft of an operation with the more precise information from its contract. */
export function writeOperation(
  draft: Operation,
  name: string,
  contract: ApiProcedure,
  schemas: Record<string, Schema>,
): Operation {
  const parameters = (draft.parameters ?? []).flatMap((parameter) =>
    isReference(parameter) ? [] : [writeParameter(parameter, contract, schemas)],
  )
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

/** `message.send` becomes `sendMessage`, `message.list` becomes `listMessages`, and `message.export` `exportMessages`. */
function nameOperation(name: string): string {
  // The only procedure that is not named after a verb.
  if (name === 'account.health') return 'getAccountHealth'
  const [resource = '', verb = ''] = name.split('.')
  const noun = capitalize(resource)
  return `${verb}${noun}${verb === 'list' || verb === 'export' ? 's' : ''}`
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
  return (success && 'content' in success && success.content['application/json']?.schema) || {}
}

export function readJsonSchema({ content }: RequestBody): Schema | undefined {
  return 'application/json' in content ? content['application/json'].schema : undefined
}

/** Returns the responses of a procedure: its success, and each error status of its contract. */
function writeResponses(contract: ApiProcedure, success: Schema): Record<string, Response> {
  const failures = Map.groupBy(contract.errors, (code) => describeError(code).status)
  return {
    200: writeSuccess(contract, success),
    ...Object.fromEntries([...failures].map(([status, codes]) => [status, writeFailure(contract, status, codes)])),
  }
}

const failureSchema = refer('schemas', 'ErrorResponse')

/** Returns the schemas of a failure by name. */
export function writeFailureSchemas(): Record<string, Schema> {
  const { ErrorCode, ...others } = mapValues(listNamedSchemas(ErrorResponse), writeResponseSchema)
  return { ...others, ErrorCode: { ...ErrorCode, description: describeCodes(ErrorCode) } }
}

function describeCodes({ description = '' }: Schema = {}): string {
  const rows = apiErrorCodes.map((code) => {
    const { status, summary } = describeError(code)
    return `- \`${code}\` (${status}): ${summary}`
  })
  return [description, '', ...rows].join('\n')
}

function writeSuccess(contract: ApiProcedure, schema: Schema): Response {
  const { output } = contract.example
  const description = contract.output.description ?? contract.summary
  const headers = listHeaders(contract, [])
  if (!contract.streams) {
    const examples = { default: { value: { success: true, data: output } } }
    return { description, headers, content: { 'application/json': { schema, examples } } }
  }
  // The example is of the first type.
  const types = contract.streams.map((type, index) => [
    type,
    { schema: { type: 'string' }, ...(index === 0 && { examples: { default: { value: output } } }) },
  ])
  return { description, headers, content: Object.fromEntries(types) }
}

function writeFailure(contract: ApiProcedure, status: number, codes: ApiErrorCode[]): Response {
  return {
    description: [
      `${STATUS_CODES[status]}:`,
      '',
      ...codes.map((code) => `- \`${code}\`: ${describeError(code).summary}`),
    ].join('\n'),
    headers: listHeaders(contract, codes),
    content: {
      'application/json': {
        schema: failureSchema,
        examples: Object.fromEntries(codes.map((code) => [code, writeExample(contract, code)])),
      },
    },
  }
}

function writeExample(contract: ApiProcedure, code: ApiErrorCode) {
  const { example, exampleDetails } = describeError(code)
  const message = contract.example.errors?.[code] ?? example
  return { value: { success: false, error: { code, message, ...exampleDetails } } }
}

/**
 * Replaces responses that are the same in several operations by references to a shared response. If a status has several
 * responses with the same codes, the most frequent one is shared. Returns the shared responses by name.
 */
export function hoistSharedResponses(operations: Operation[]): Record<string, Response> {
  const hoisted: Record<string, Response> = {}
  const failures = operations.flatMap(({ responses, tags: [tag = ''] }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      status === '200' || isReference(response) ? [] : [{ status, response, responses, tag }],
    ),
  )
  const alike = [...Map.groupBy(failures, ({ response }) => JSON.stringify(response)).values()]
  for (const same of alike.toSorted((one, other) => other.length - one.length)) {
    const [first, second] = same
    if (!first || !second) continue
    const name = nameResponse(first, hoisted)
    if (name in hoisted) continue
    hoisted[name] = first.response
    for (const { status, responses } of same) responses[status] = refer('responses', name)
  }
  return hoisted
}

/**
 * The most frequent response of a status is named after it, such as `NotFound`. Others are also named after their own
 * codes, or after the group of their operations if only the examples differ.
 */
function nameResponse(
  { status, response, tag }: { status: string; response: Response; tag: string },
  hoisted: Record<string, Response>,
): string {
  const name = (STATUS_CODES[status] ?? status).replaceAll(/[^A-Za-z]/g, '')
  const usual = hoisted[name]
  if (!usual) return name
  const usualCodes = listCodes(usual)
  const own = listCodes(response).filter((code) => !usualCodes.includes(code))
  return name + (own.map(toPascalCase).join('') || tag)
}

function listCodes({ content }: Response): string[] {
  return Object.keys(content['application/json']?.examples ?? {})
}

/** `NO_ACTIVE_ACCOUNT` becomes `NoActiveAccount`. */
function toPascalCase(code: string): string {
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Replaces parameters that are the same in several operations by references to shared ones, and returns these by name. */
export function hoistSharedParameters(operations: Operation[]): Record<string, Parameter> {
  const hoisted: Record<string, Parameter> = {}
  const all = operations.flatMap(({ parameters = [], tags: [tag = ''] }) =>
    parameters.flatMap((parameter, index) => (isReference(parameter) ? [] : [{ parameter, parameters, index, tag }])),
  )
  for (const same of Map.groupBy(all, ({ parameter }) => JSON.stringify(parameter)).values()) {
    const [first, second] = same
    if (!first || !second) continue
    const plain = `${capitalize(first.parameter.name.replaceAll('-', ''))}Parameter`
    const name = plain in hoisted ? `${first.tag}${plain}` : plain
    if (name in hoisted) throw new Error(`Two shared parameters are called ${name}`)
    hoisted[name] = first.parameter
    for (const { parameters, index } of same) parameters[index] = refer('parameters', name)
  }
  return hoisted
}

/** The header fields of our responses. */
export const headers = {
  'X-Request-Id': {
    description: 'ID of this request, which is also in our log. Include it when you report a problem.',
    schema: { type: 'string' },
    example: 'req_9f86d081884c_1x',
  },
  'Retry-After': {
    description: 'Whole seconds after which to try again (RFC 9110, 10.2.3).',
    schema: { type: 'integer', minimum: 0 },
    example: 12,
  },
  Link: {
    description: 'The documentation page of the error code (RFC 8288).',
    schema: { type: 'string' },
    example: '</docs/errors/VALIDATION_ERROR>; rel="help"',
  },
  RateLimit: {
    description:
      'What is left of the rate limit: `r` requests during the next `t` seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
    example: '"default";r=59;t=60',
  },
  'RateLimit-Policy': {
    description: 'The rate limit of the account: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
    example: '"default";q=60;w=60',
  },
  'Idempotent-Replayed': {
    description:
      '`true` when this is the stored result of an earlier request: one with the same `Idempotency-Key` or, for `code.send`, the same request within 30 seconds; absent otherwise.',
    schema: { type: 'string' },
    example: 'true',
  },
} as const satisfies Record<string, Header>

type HeaderName = keyof typeof headers

/** Errors returned before rate limiting and validation. */
const rejectedEarly: ReadonlySet<ErrorCode> = new Set([
  'INVALID_API_KEY',
  'API_DISABLED',
  'IP_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL_ERROR',
])

/** Error codes that can be stored as the result of a request with an idempotency key. */
const storedOutcomes: ReadonlySet<ErrorCode> = new Set(['MESSAGE_REJECTED', 'SEND_OUTCOME_UNKNOWN'])

/** Lists the header fields of a failure with one of these codes, or of a success if there are none. */
function listHeaders(contract: ApiProcedure, codes: readonly ErrorCode[]): Record<string, Reference> {
  const succeeded = codes.length === 0
  const names: HeaderName[] = succeeded ? ['X-Request-Id'] : ['X-Request-Id', 'Link']
  if (codes.some((code) => describeError(code).retryAfter)) names.push('Retry-After')
  if (contract.budget === 'sends' && (succeeded || codes.some((code) => !rejectedEarly.has(code))))
    names.push('RateLimit', 'RateLimit-Policy')
  if (contract.idempotent && (succeeded || codes.some((code) => storedOutcomes.has(code))))
    names.push('Idempotent-Replayed')
  return Object.fromEntries(names.map((name) => [name, refer('headers', name)]))
}
