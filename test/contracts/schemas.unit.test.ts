import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { SendMessageRequest } from '../../contracts/api/message.ts'
import { contracts } from '../../contracts/index.ts'
import { listProcedures } from '../../contracts/procedure.ts'
import { compileSchemaAt, openApi, pointTo, resolveParameter } from './document.ts'

const fitting = {
  phoneNumber: fc.stringMatching(/^[1-9][0-9]{6,14}$/, { size: 'max' }),
  language: fc.stringMatching(/^[a-z]{2,3}(_[A-Z]{2})?$/),
  line: fc.stringMatching(/^[^\u0000-\u001f\u007f]{1,64}$/),
  variables: fc.dictionary(fc.stringMatching(/^[1-9][0-9]?$/), fc.string()),
}

/** Includes near misses to test the limits of each rule. */
const digits = fc.stringMatching(/^[0-9]{1,18}$/, { size: 'max' })
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }))
const phoneNumber = fc.oneof(fitting.phoneNumber, digits, fc.stringMatching(/^\+?[0-9 -]{0,18}$/, { size: 'max' }))
const language = fc.oneof(fitting.language, fc.stringMatching(/^[a-zA-Z]{0,4}[_-]?[a-zA-Z]{0,3}$/))
const variables = fc.oneof(
  fc.dictionary(fc.oneof(digits, text), text),
  fc.dictionary(digits, fc.oneof(text, fc.integer())),
  fc.array(text),
)
const reference = fc.oneof(
  text,
  fc.integer(),
  fc.constant(null),
  fc.constant('x'.repeat(255)),
  fc.constant('x'.repeat(256)),
)

function withRecipient(json: unknown): unknown {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
  return isObject && !('to' in json) && !('recipient' in json) ? { ...json, to: '34600111222' } : json
}

test('the document and the server accept the same send requests', () => {
  const request = fc.oneof(
    fc.record(
      { to: fitting.phoneNumber, template: fitting.line, language: fitting.language, variables: fitting.variables },
      { requiredKeys: ['to', 'template', 'language'] },
    ),
    fc.record(
      { to: phoneNumber, template: text, language, variables, externalId: reference, accountId: reference },
      { requiredKeys: ['to', 'template', 'language'] },
    ),
    fc.record({ to: phoneNumber, template: text, language, media: text }, { requiredKeys: [] }),
    fc.anything(),
  )
  const validate = compileSchemaAt(pointTo('components', 'schemas', 'SendMessageRequest'))
  const seen = { fit: 0, misfit: 0 }

  fc.assert(
    fc.property(request, (value) => {
      const json: unknown = JSON.parse(JSON.stringify(value) ?? 'null')
      // Only the description says that one of `to` and `recipient` is needed: generators of clients lack `anyOf`.
      const fits = SendMessageRequest.safeParse(withRecipient(json)).success
      seen[fits ? 'fit' : 'misfit'] += 1
      expect(validate(json)).toBe(fits)
    }),
    { numRuns: 2_000 },
  )
  // Both valid and invalid requests were tested.
  expect(seen.fit).toBeGreaterThan(200)
  expect(seen.misfit).toBeGreaterThan(200)
})

const strings = [
  { field: 'to', samples: phoneNumber },
  { field: 'template', samples: text },
  { field: 'language', samples: language },
] as const

test.each(strings)('the document and the server agree on $field', ({ field, samples }) => {
  const validate = compileSchemaAt(pointTo('components', 'schemas', 'SendMessageRequest', 'properties', field))
  const schema: z.ZodType = SendMessageRequest.shape[field]

  fc.assert(
    fc.property(samples, (value) => {
      expect(validate(value)).toBe(schema.safeParse(value).success)
    }),
    { numRuns: 500 },
  )
})

const queries = listProcedures(contracts).filter(({ contract }) => contract.kind === 'query')
const parameters = queries
  .flatMap(({ name, contract }) =>
    (openApi.paths[contract.path]?.get?.parameters ?? []).map((parameter, index) => ({
      name,
      parameter: resolveParameter(parameter).name,
      schema: contract.input.shape[resolveParameter(parameter).name] as z.ZodType,
      pointer:
        '$ref' in parameter
          ? `${parameter.$ref.slice(1)}/schema`
          : pointTo('paths', contract.path, 'get', 'parameters', String(index), 'schema'),
    })),
  )
  // The server treats a malformed ID as unknown, not as invalid.
  .filter(({ name, parameter }) => !['message.get messageId', 'media.get mediaId'].includes(`${name} ${parameter}`))

test.each(parameters)(
  'values that the server accepts for $parameter of $name match the document',
  ({ schema, pointer }) => {
    const validate = compileSchemaAt(pointer)
    const instant = fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') })
      .map((date) => date.toISOString())
    const samples = fc.oneof(
      text,
      phoneNumber,
      language,
      instant,
      fc.integer({ min: -5, max: 200 }),
      fc.constantFrom('sent', 'read', 'gone'),
    )

    fc.assert(
      fc.property(samples, (value) => {
        expect(validate(value) || !schema.safeParse(value).success).toBe(true)
      }),
      { numRuns: 300 },
    )
  },
)
