import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { OpenApi30Document, Operation, Schema } from '../../../src/http/openapi/document.ts'
import { convertSchema, openApiForms } from '../../../src/http/openapi/openapi30.ts'
import { listNodes, openApi, pointTo, resolveParameter } from '../../contracts/document.ts'

const openApi30: OpenApi30Document = JSON.parse(openApiForms['openapi-3.0.json'](openApi))

test('the YAML form contains the same document', () => {
  expect(parse(openApiForms['openapi.yaml'](openApi))).toEqual(openApi)
})

test('the 3.0 file describes the same operations, without the webhooks', () => {
  expect(openApi30).toMatchObject({ openapi: '3.0.3', info: { version: openApi.info.version } })
  expect(outline(openApi30)).toEqual(outline(openApi))
  expect(openApi30).not.toHaveProperty('webhooks')
  expect(Object.keys(openApi30.components.schemas)).toEqual(Object.keys(openApi.components.schemas))
})

function outline({ paths }: Pick<OpenApi30Document, 'paths'>) {
  return Object.entries(paths).map(([url, item]) => [url, Object.entries(item).map(outlineOperation)])
}

function outlineOperation([method, { operationId, parameters, requestBody, responses }]: [string, Operation]) {
  return [
    method,
    operationId,
    parameters?.map(resolveParameter).map(({ name, in: place, required }) => [name, place, required]),
    requestBody !== undefined,
    // 3.0 uses ranges instead of `default`.
    Object.keys(responses).flatMap((status) => (status === 'default' ? ['4XX', '5XX'] : [status])),
  ]
}

test('every example fits its schema in the 3.0 file too', () => {
  // OpenAPI 3.0 is closest to draft 7; ajv supports its additions, such as `nullable`.
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(openApi30, 'openapi-3.0.json')
  const bodies = listNodes(openApi30.paths).flatMap(({ keys, node }) =>
    'schema' in node && 'examples' in node ? [{ keys: ['paths', ...keys, 'schema'], examples: node.examples }] : [],
  )
  const misfits = bodies.flatMap(({ keys, examples }) => {
    const validate = ajv.compile({ $ref: `openapi-3.0.json#${pointTo(...keys)}` })
    const values = Object.values(examples as Record<string, { value: unknown }>)
    return values.flatMap(({ value }) => (validate(value) ? [] : [{ keys, value, errors: validate.errors }]))
  })

  expect(bodies.length).toBeGreaterThan(30)
  expect(misfits).toEqual([])
})

test.each<{ schema: Schema; becomes: Schema }>([
  { schema: { type: 'string', const: 'sent' }, becomes: { type: 'string', enum: ['sent'] } },
  { schema: { type: 'string', examples: ['a', 'b'] }, becomes: { type: 'string', example: 'a' } },
  { schema: { type: ['string', 'null'] as never }, becomes: { type: 'string', nullable: true } },
  { schema: { anyOf: [{ type: 'integer' }, { type: 'null' }] }, becomes: { type: 'integer', nullable: true } },
  {
    schema: { oneOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] },
    becomes: {
      oneOf: [
        { type: 'integer', nullable: true },
        { type: 'string', nullable: true },
      ],
    },
  },
  {
    schema: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    becomes: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
  },
  { schema: { $ref: '#/a', description: 'ignored beside a reference' }, becomes: { $ref: '#/a' } },
  {
    schema: { type: 'object', properties: { list: { type: 'array', items: { type: 'string', const: 'a' } } } },
    becomes: { type: 'object', properties: { list: { type: 'array', items: { type: 'string', enum: ['a'] } } } },
  },
  {
    schema: { type: 'object', additionalProperties: { type: 'string', examples: ['a'] } },
    becomes: { type: 'object', additionalProperties: { type: 'string', example: 'a' } },
  },
  { schema: { type: 'object', additionalProperties: false }, becomes: { type: 'object', additionalProperties: false } },
])('$schema becomes $becomes', ({ schema, becomes }) => {
  expect(convertSchema(schema)).toEqual(becomes)
})

test.each<Schema>([
  { prefixItems: [{ type: 'string' }] },
  { type: ['string', 'integer'] as never },
  { anyOf: [{ $ref: '#/a' }, { type: 'null' }] },
])('rejects %o, which 3.0 cannot express', (schema) => {
  expect(() => convertSchema(schema)).toThrow(/OpenAPI 3.0 has no/)
})
