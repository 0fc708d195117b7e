import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { apiErrorCodes, describeError } from '../../../contracts/errors.ts'
import { restContracts } from '../../../contracts/index.ts'
import { listProcedures } from '../../../contracts/procedure.ts'
import type { Example, Response } from '../../../src/http/openapi/document.ts'
import { openApiForms } from '../../../src/http/openapi/openapi30.ts'
import { printOpenApi } from '../../../src/http/openapi/openapi.ts'
import {
  compileSchemaAt,
  listNodes,
  openApi,
  pointTo,
  resolveParameter,
  resolveResponse,
} from '../../contracts/document.ts'
import { folderForFile } from '../../support/lifetime.ts'

const operations = listProcedures(restContracts).map(({ name, contract }) => {
  const method = contract.method === 'GET' ? 'get' : 'post'
  const operation = openApi.paths[contract.path]?.[method]
  if (!operation) throw new Error(`openapi.json lacks ${name}: run npm run openapi`)
  return { name, contract, operation, keys: ['paths', contract.path, method] }
})

const root = path.join(import.meta.dirname, '../../..')

const forms = [
  ['openapi.json', printOpenApi()],
  ...Object.entries(openApiForms).map(([name, write]) => [name, write(openApi)] as const),
] as const

const folder = await folderForFile()

test('openapi.json is what the contracts generate today', () => {
  const written = readFileSync(path.join(root, 'openapi.json'), 'utf8')

  expect(written, 'openapi.json is out of date: run npm run openapi').toBe(printOpenApi())
})

test('generates the same bytes twice', () => {
  expect(printOpenApi()).toEqual(printOpenApi())
})

test('documents every operation of the contracts and no others', () => {
  const documented = Object.values(openApi.paths).flatMap((item) => Object.values(item))

  expect(documented).toHaveLength(operations.length)
  expect(documented.map(({ operationId }) => operationId)).toEqual([
    'sendMessage',
    'previewMessage',
    'getMessage',
    'listMessages',
    'exportMessages',
    'sendCode',
    'checkCode',
    'getTemplate',
    'listTemplates',
    'createTemplate',
    'updateTemplate',
    'deleteTemplate',
    'duplicateTemplate',
    'listEvents',
    'listSuppressions',
    'addSuppression',
    'removeSuppression',
    'importSuppression',
    'getAccountHealth',
    'uploadMedia',
    'importMedia',
    'getMedia',
    'deleteMedia',
  ])
})

test.each(operations)('$name lists every error status of its contract with its codes', ({ contract, operation }) => {
  const expected = Object.groupBy(contract.errors, (code) => describeError(code).status)
  const documented = Object.entries(operation.responses)
    .filter(([status]) => status !== '200')
    .map(([status, response]) => [status, readCodes(resolveResponse(response))])

  expect(Object.fromEntries(documented)).toEqual(expected)
  expect(operation['x-error-codes']).toEqual(contract.errors)
})

test.each(operations)('documents one error shape for every failure of $name', ({ operation }) => {
  const { 200: _success, ...failures } = operation.responses

  // Several generators add the type of a default response to that of every success.
  expect(failures).not.toHaveProperty('default')
  for (const response of Object.values(failures))
    expect(resolveResponse(response).content['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/ErrorResponse',
    })
})

test('lists every code in the schema of an error code, and accepts others', () => {
  const { ErrorCode } = openApi.components.schemas

  expect(ErrorCode).toMatchObject({ type: 'string', 'x-extensible-enum': apiErrorCodes })
  for (const code of apiErrorCodes) expect(ErrorCode?.description).toContain(`\`${code}\``)
  expect(compileSchemaAt(pointTo('components', 'schemas', 'ErrorCode'))('A_LATER_CODE')).toBe(true)
})

test('closes the list of values only in requests, so that responses can gain values', () => {
  // The example of a template contains a schema for its requests.
  const schemas = listNodes(openApi).filter(({ keys }) => !keys.includes('examples'))
  const ofRequests = listOfRequests()
  const closed = schemas.filter(
    ({ node, keys }) =>
      ('enum' in node || 'const' in node) && !(keys[1] === 'schemas' && ofRequests.has(keys[2] ?? '')),
  )

  expect(closed.map(({ keys }) => keys.slice(0, 4).join(' '))).toEqual([
    'paths /api/v1/message/export get parameters',
    'paths /api/v1/event get parameters',
    'paths /api/v1/suppression get parameters',
    'components parameters StatusParameter schema',
  ])
})

test('applies the rules for callers only to requests', () => {
  const ofRequests = listOfRequests()
  const answers = Object.fromEntries(
    Object.entries(openApi.components.schemas).filter(([name]) => !ofRequests.has(name)),
  )
  const rules = listNodes(answers).filter(({ node }) => 'pattern' in node || 'maxLength' in node)

  expect(rules.map(({ keys }) => keys.join(' '))).toEqual([])
})

/** The names of the schemas that request bodies use. */
function listOfRequests(): Set<string> {
  const bodies = operations.flatMap(({ operation }) => operation.requestBody ?? [])
  return new Set([...listUsed(bodies)].map((reference) => reference.replace('#/components/schemas/', '')))
}

/** Everything that these nodes reference, directly or through others. */
function listUsed(pending: object[]): Set<string> {
  const used = new Set<string>()
  for (let node = pending.pop(); node !== undefined; node = pending.pop())
    for (const { node: inner } of listNodes(node)) {
      if (!('$ref' in inner) || typeof inner.$ref !== 'string' || used.has(inner.$ref)) continue
      used.add(inner.$ref)
      const [, , kind = '', name = ''] = inner.$ref.split('/')
      pending.push({ ...openApi.components }[kind as 'schemas']?.[name] ?? {})
    }
  return used
}

test('uses every schema in a path, so that tools that prune unused schemas keep all of them', () => {
  const used = listUsed([openApi.paths])

  const schemas = Object.keys(openApi.components.schemas).map((name) => `#/components/schemas/${name}`)
  expect(schemas.filter((schema) => !used.has(schema))).toEqual([])
})

test.each(operations)('$name has an example message for each of its codes', ({ operation, contract }) => {
  const shown = Object.values(operation.responses).flatMap((response) =>
    Object.values(resolveResponse(response).content).flatMap(({ examples }) => Object.keys(examples ?? {})),
  )

  expect(shown.toSorted()).toEqual(['default', ...contract.errors].toSorted())
})

test.each(operations)('$name documents its response headers', ({ contract, operation }) => {
  for (const [status, response] of Object.entries(operation.responses)) {
    const { headers } = resolveResponse(response)
    expect(headers).toHaveProperty('X-Request-Id')
    expect('RateLimit' in headers, `RateLimit of ${status}`).toBe(
      contract.budget === 'sends' && !['401', '403', '413', '415', '500'].includes(status),
    )
    const codes = contract.errors.filter((code) => String(describeError(code).status) === status)
    expect('Retry-After' in headers, `Retry-After of ${status}`).toBe(
      codes.some((code) => describeError(code).retryAfter === true),
    )
  }
})

test('every request has one content type, because most generators only support the first', () => {
  const types = operations.flatMap(({ name, operation }) => {
    const listed = Object.keys(operation.requestBody?.content ?? {})
    return listed.length === 0 ? [] : [[name, ...listed]]
  })

  expect(types.filter(([, ...listed]) => listed.join() !== 'application/json')).toEqual([
    ['media.upload', 'multipart/form-data'],
  ])
})

test('an operation accepts an Idempotency-Key if its contract declares it', () => {
  const taking = operations.filter(({ operation }) =>
    operation.parameters?.map(resolveParameter).some(({ name }) => name === 'Idempotency-Key'),
  )

  expect(taking.map(({ name }) => name)).toEqual(
    operations.filter(({ contract }) => contract.idempotent).map(({ name }) => name),
  )
})

test.each(forms)('every tool can read the patterns in %s', (_name, text) => {
  const patterns = listNodes(parse(text)).flatMap(({ node }) =>
    'pattern' in node && typeof node.pattern === 'string' ? [node.pattern] : [],
  )

  expect(patterns.length).toBeGreaterThan(20)
  // PHP rejects \u, and generated TypeScript an escaped slash.
  expect(patterns.filter((pattern) => /\\[u/]/.test(pattern))).toEqual([])
})

test('names one server, because some clients choose any of several', () => {
  expect(openApi.servers).toEqual([{ url: '/', description: expect.any(String) }])
})

test('has at most 300 kB', () => {
  expect(readFileSync(path.join(root, 'openapi.json')).length).toBeLessThanOrEqual(300_000)
})

test('gives every operation and webhook an ID in camel case', () => {
  const webhookIds = Object.values(openApi.webhooks).map(({ post }) => post.operationId)

  for (const id of [...operations.map(({ operation }) => operation.operationId), ...webhookIds])
    expect(id).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
  expect(webhookIds).toContain('onWhatsappAccountTokenExpiring')
})

test('no example changes or deletes a template that another example uses', () => {
  const examples = operations.flatMap(({ name, contract }) => {
    const { template, ...input }: Record<string, unknown> = contract.example.input
    return name.startsWith('template.') || template !== undefined ? [{ name, template: template ?? input['name'] }] : []
  })
  const changing = ['template.update', 'template.delete']
  const kept = examples.filter(({ name }) => ![...changing, 'template.create'].includes(name))

  expect(kept.length).toBeGreaterThan(3)
  for (const { template } of examples.filter(({ name }) => changing.includes(name)))
    expect(kept.map((example) => example.template)).not.toContain(template)
})

test('every field, parameter, header, tag and schema has a description', () => {
  const undescribed = listNodes()
    .filter(({ keys }) => needsDescription(keys))
    .filter(({ node }) => !('description' in node && node.description) && !('$ref' in node))

  expect(undescribed.map(({ keys }) => keys.join(' '))).toEqual([])
})

test('every parameter has an example', () => {
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []).map(resolveParameter)

  expect(parameters.filter(({ examples }) => !examples?.['default'])).toEqual([])
})

test('every example matches its schema', () => {
  const examples = listNodes().flatMap(({ keys, node }) => listExamples(node).map((example) => ({ keys, ...example })))
  const misfits = examples.flatMap(({ keys, schema, value }) => {
    const validate = compileSchemaAt(pointTo(...keys, ...schema))
    return validate(value) ? [] : [{ keys: keys.join(' '), value, errors: validate.errors }]
  })

  expect(examples.length).toBeGreaterThan(100)
  expect(misfits).toEqual([])
})

test('forbids unknown fields in requests and allows them in responses', () => {
  const closed = listNodes(openApi.components.schemas).filter(
    ({ node }) => 'additionalProperties' in node && node.additionalProperties === false,
  )

  // Variables accept any name, and raw components any field.
  const ofRequests = [...listOfRequests()].filter((name) => name !== 'Variables' && name !== 'RawComponent')
  expect([...new Set(closed.map(({ keys }) => keys[0]))].toSorted()).toEqual(ofRequests.toSorted())
})

test.each(forms.filter(([name]) => name.endsWith('.json')))(
  'the Redocly linter finds no error and no warning in %s',
  async (name, text) => {
    const linted = path.join(folder, name)
    await writeFile(linted, text)
    const linter = path.join(root, 'node_modules/@redocly/cli/bin/cli.js')
    const run = promisify(execFile)(
      process.execPath,
      [linter, 'lint', linted, `--config=${path.join(root, '.ci/redocly.yaml')}`, '--format=json'],
      { cwd: root, env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    )
    const { stdout } = await run.catch((failed: { stdout: string }) => failed)

    expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] })
  },
)

/** The codes that a response's description lists. */
function readCodes({ description }: Response): string[] {
  return [...description.matchAll(/^- `(\w+)`:/gm)].map((match) => match[1] ?? '')
}

function needsDescription(keys: string[]): boolean {
  const [name = '', parent = ''] = keys.toReversed()
  if (isExample(keys) || name === '$ref') return false
  return parent === 'properties' || ['parameters', 'tags', 'headers', 'schemas', 'responses'].includes(parent)
}

/**
 * Whether the keys lead into an example, whose field names are the caller's. A field may itself be called `example`.
 */
function isExample(keys: string[]): boolean {
  return keys.some((key, index) => ['example', 'examples'].includes(key) && keys[index - 1] !== 'properties')
}

/** The examples of a parameter, header or body with the adjacent schema, or those of a schema itself. */
function listExamples(node: object): { schema: string[]; value: unknown }[] {
  if ('schema' in node) {
    const named: unknown[] = 'examples' in node ? Object.values(node.examples ?? {}) : []
    const values = named.map((example) => (example as Example).value)
    return ['example' in node ? [node.example] : [], values].flat().map((value) => ({ schema: ['schema'], value }))
  }
  if ('examples' in node && Array.isArray(node.examples)) return node.examples.map((value) => ({ schema: [], value }))
  return []
}
