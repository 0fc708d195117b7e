import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { describeError } from '../../contracts/errors.ts'
import { contracts } from '../../contracts/index.ts'
import { listProcedures } from '../../contracts/procedure.ts'
import type { Example, Response } from '../../src/http/openapi/document.ts'
import { printOpenApi } from '../../src/http/openapi/openapi.ts'
import { compileSchemaAt, listNodes, openApi, openApiText, pointTo, resolveResponse } from './document.ts'

const operations = listProcedures(contracts).map(({ name, contract }) => {
  const method = contract.method === 'GET' ? 'get' : 'post'
  const operation = openApi.paths[contract.path]?.[method]
  if (!operation) throw new Error(`openapi.json lacks ${name}: run npm run openapi`)
  return { name, contract, operation, keys: ['paths', contract.path, method] }
})

test('openapi.json is what the contracts generate today', () => {
  expect(openApiText, 'openapi.json is out of date: run npm run openapi').toBe(printOpenApi())
})

test('generating twice gives the same bytes', () => {
  expect(printOpenApi()).toBe(printOpenApi())
})

test('the document holds the operations of the contracts and no others', () => {
  const documented = Object.values(openApi.paths).flatMap((item) => Object.values(item))

  expect(documented).toHaveLength(operations.length)
  expect(documented.map(({ operationId }) => operationId)).toEqual([
    'sendMessage',
    'previewMessage',
    'getMessage',
    'listMessages',
    'getTemplate',
    'listTemplates',
    'listEvents',
    'getAccountHealth',
  ])
})

test.each(operations)('$name lists every error status of its contract with its codes', ({ contract, operation }) => {
  const expected = Object.groupBy(contract.errors, (code) => describeError(code).status)
  const documented = Object.entries(operation.responses)
    .filter(([status]) => status !== '200')
    .map(([status, response]) => [status, readCodes(resolveResponse(response))])

  expect(Object.fromEntries(documented)).toEqual(expected)
})

test.each(operations)('$name shows a message for each of its codes', ({ operation, contract }) => {
  const shown = Object.values(operation.responses).flatMap((response) =>
    Object.keys(resolveResponse(response).content['application/json'].examples ?? {}),
  )

  expect(shown.toSorted()).toEqual(['default', ...contract.errors].toSorted())
})

test.each(operations)('$name names the header fields of its answers', ({ contract, operation }) => {
  for (const [status, response] of Object.entries(operation.responses)) {
    const { headers } = resolveResponse(response)
    expect(headers).toHaveProperty('X-Request-Id')
    expect('RateLimit' in headers, `RateLimit of ${status}`).toBe(
      contract.rateLimited && !['401', '403', '413', '415', '500'].includes(status),
    )
    expect('Retry-After' in headers, `Retry-After of ${status}`).toBe(['409', '429', '503'].includes(status))
  }
})

test('an operation takes an Idempotency-Key when its contract says so', () => {
  const taking = operations.filter(({ operation }) =>
    operation.parameters?.some(({ name }) => name === 'Idempotency-Key'),
  )

  expect(taking.map(({ name }) => name)).toEqual(
    operations.filter(({ contract }) => contract.idempotent).map(({ name }) => name),
  )
})

test('every field, parameter, header, tag and schema is described', () => {
  const undescribed = listNodes()
    .filter(({ keys }) => needsDescription(keys))
    .filter(({ node }) => !('description' in node && node.description) && !('$ref' in node))

  expect(undescribed.map(({ keys }) => keys.join(' '))).toEqual([])
})

test('every parameter has an example', () => {
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? [])

  expect(parameters.filter(({ examples }) => !examples?.['default'])).toEqual([])
})

test('every example fits its schema', () => {
  const examples = listNodes().flatMap(({ keys, node }) => listExamples(node).map((example) => ({ keys, ...example })))
  const misfits = examples.flatMap(({ keys, schema, value }) => {
    const validate = compileSchemaAt(pointTo(...keys, ...schema))
    return validate(value) ? [] : [{ keys: keys.join(' '), value, errors: validate.errors }]
  })

  expect(examples.length).toBeGreaterThan(100)
  expect(misfits).toEqual([])
})

test('a request is closed, so that a mistyped field is found; an answer is open, so that it can grow', () => {
  const closed = listNodes(openApi.components.schemas).filter(
    ({ node }) => 'additionalProperties' in node && node.additionalProperties === false,
  )

  expect(closed.map(({ keys }) => keys.join(' '))).toEqual(['SendMessageRequest'])
})

test('the Redocly linter finds no error and no warning', async () => {
  const root = path.join(import.meta.dirname, '../..')
  const linter = path.join(root, 'node_modules/@redocly/cli/bin/cli.js')
  const run = promisify(execFile)(process.execPath, [linter, 'lint', 'openapi.json', '--format=json'], {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  const { stdout } = await run.catch((failed: { stdout: string }) => failed)

  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] })
})

/** The codes that a response's schema lets through. */
function readCodes(response: Response): unknown {
  return response.content['application/json'].schema.properties?.['error']?.properties?.['code']?.['enum']
}

function needsDescription(keys: string[]): boolean {
  const [name = '', parent = ''] = keys.toReversed()
  if (isExample(keys) || name === '$ref') return false
  return parent === 'properties' || ['parameters', 'tags', 'headers', 'schemas', 'responses'].includes(parent)
}

/** Inside an example, where names are the caller's. A field may be called `example` too. */
function isExample(keys: string[]): boolean {
  return keys.some((key, index) => ['example', 'examples'].includes(key) && keys[index - 1] !== 'properties')
}

/** The examples of a parameter, header or body with the schema beside them, or of a schema itself. */
function listExamples(node: object): { schema: string[]; value: unknown }[] {
  if ('schema' in node) {
    const named: unknown[] = 'examples' in node ? Object.values(node.examples ?? {}) : []
    const values = named.map((example) => (example as Example).value)
    return ['example' in node ? [node.example] : [], values].flat().map((value) => ({ schema: ['schema'], value }))
  }
  if ('examples' in node && Array.isArray(node.examples)) return node.examples.map((value) => ({ schema: [], value }))
  return []
}
