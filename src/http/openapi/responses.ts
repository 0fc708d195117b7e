import { STATUS_CODES } from 'node:http'
import { ErrorResponse } from '../../../contracts/envelope.ts'
import { type ApiErrorCode, apiErrorCodes, describeError } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { type Operation, refer, type Reference, type Response, type Schema } from './document.ts'
import { listHeaders } from './headers.ts'
import { listNamedSchemas, mapValues, writeResponseSchema } from './schemas.ts'

/** Returns the responses of a procedure: its success, and each error status of its contract. */
export function writeResponses(contract: ApiProcedure, success: Schema): Record<string, Response> {
  const failures = Map.groupBy(contract.errors, (code) => describeError(code).status)
  return {
    200: writeSuccess(contract, success),
    ...Object.fromEntries([...failures].map(([status, codes]) => [status, writeFailure(contract, status, codes)])),
    default: otherFailure,
  }
}

const failureSchema = refer('schemas', 'ErrorResponse')

const otherFailure: Response = {
  description: 'Any other failure, such as a status that a later version adds.',
  headers: { 'X-Request-Id': refer('headers', 'X-Request-Id') },
  content: { 'application/json': { schema: failureSchema } },
}

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
  const example = { value: { success: true, data: contract.example.output } }
  return {
    description: contract.output.description ?? contract.summary,
    headers: listHeaders(contract, []),
    content: { 'application/json': { schema, examples: { default: example } } },
  }
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
  const message = contract.example.errors?.[code] ?? describeError(code).example
  return { value: { success: false, error: { code, message } } }
}

/**
 * Replaces responses that are the same in every operation by references to a shared response, named after its HTTP
 * status. Returns the shared responses.
 */
export function hoistSharedResponses(operations: Operation[]): Record<string, Response> {
  const meanings = Map.groupBy(
    operations.flatMap(({ responses }) => Object.entries(responses)),
    ([status]) => status,
  )
  const hoisted: Record<string, Response> = {}
  for (const [status, entries] of meanings) {
    const [first, ...others] = entries.map(([, response]) => response)
    if (!first || isReference(first) || others.length === 0) continue
    if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) continue
    const name = nameStatus(status)
    hoisted[name] = first
    for (const { responses } of operations) if (status in responses) responses[status] = refer('responses', name)
  }
  return hoisted
}

/** 413 becomes `PayloadTooLarge`. */
function nameStatus(status: string): string {
  if (status === 'default') return 'OtherFailure'
  return (STATUS_CODES[status] ?? status).replaceAll(/[^A-Za-z]/g, '')
}

function isReference(response: Response | Reference): response is Reference {
  return '$ref' in response
}
