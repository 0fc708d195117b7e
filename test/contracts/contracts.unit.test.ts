import { createHmac } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { ErrorResponse, successEnvelope } from '../../contracts/envelope.ts'
import { apiErrorCodes, describeError } from '../../contracts/errors.ts'
import { contracts, restContracts } from '../../contracts/index.ts'
import { listProcedures } from '../../contracts/procedure.ts'
import { SendMessageRequest } from '../../contracts/api/message.ts'
import { compileSchemaAt, openApi, pointTo, resolveParameter } from './document.ts'
import { changes } from '../../contracts/facts/changes.ts'
import { factTexts, inEnglish, withFacts } from '../../contracts/facts/fact.ts'
import { failures } from '../../contracts/facts/failures.ts'
import { templateProblems } from '../../contracts/facts/template-problems.ts'
import {
  defaultEventTypes,
  eventTypes,
  messageEventTypes,
  WebhookEvent,
  WebhookHeaders,
  webhooks,
} from '../../contracts/events.ts'
import { eventFacts } from '../../contracts/facts/events.ts'

const all = listProcedures(restContracts)

test.each(all)('the example of $name matches its own schemas', ({ contract: { input, output, example } }) => {
  expect(input.safeParse(example.input)).toMatchObject({ success: true })
  // Strict equality: the schema must know every field of the example.
  expect(successEnvelope(output).parse({ success: true, data: example.output })).toEqual({
    success: true,
    data: example.output,
  })
})

test.each(all)('the path parameters of $name are required input fields', ({ contract: { path, input } }) => {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')

  for (const parameter of parameters) {
    expect(Object.keys(input.shape)).toContain(parameter)
    expect(input.safeParse({}).error?.issues.map((issue) => issue.path[0])).toContain(parameter)
  }
})

test.each(all)('$name lists each of its error codes once', ({ contract: { errors } }) => {
  expect(errors).toEqual([...new Set(errors)])
})

test.each(all)('the error examples of $name use only codes that it lists', ({ contract: { errors, example } }) => {
  expect(errors).toEqual(expect.arrayContaining(Object.keys(example.errors ?? {})))
})

test('no two contracts share a method and path', () => {
  const routes = all.map(({ contract: { method, path } }) => `${method} ${path}`)

  expect(routes).toEqual([...new Set(routes)])
})

test('lists every error code in a contract, except those of unmatched routes', () => {
  const met = new Set(all.flatMap(({ contract }) => contract.errors))

  expect(apiErrorCodes.filter((code) => !met.has(code))).toEqual(['NOT_FOUND', 'METHOD_NOT_ALLOWED'])
})

test.each(apiErrorCodes)('the example of %s matches the envelope', (code) => {
  const { example, exampleDetails } = describeError(code)
  const failure = { success: false, error: { code, message: example, ...exampleDetails } }

  expect(ErrorResponse.parse(failure)).toEqual(failure)
})

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

// Real facts: those that a test defines would join the texts that must have translations.
const { field } = changes

test.each([
  ['as it is', failures.tokenRefused.meaning(), 'WhatsApp rejected the access token.'],
  ['with values', templateProblems.length({ limit: 60, length: 61 }), 'must have at most 60 characters; it has 61'],
  [
    'with quoted braces',
    templateProblems.variableCase({ right: 'name', wrong: 'Name' }),
    'must name variables in lower case: {{name}}, not {{Name}}',
  ],
  [
    'with a fact in it',
    changes.updateEndpoint({ fields: field.url(), endpointId: 'ep_1' }),
    'changed the URL of the webhook endpoint ep_1',
  ],
  [
    'with a list of facts in it',
    changes.updateEndpoint({ fields: [field.url(), field.events()], endpointId: 'ep_1' }),
    'changed the URL and the events of the webhook endpoint ep_1',
  ],
  [
    'with a value that looks like a placeholder',
    changes.updateEndpoint({ fields: '{endpointId}', endpointId: 'ep_1' }),
    'changed {endpointId} of the webhook endpoint ep_1',
  ],
])('says a fact in English %s', (_how, fact, english) => {
  expect(inEnglish(fact)).toBe(english)
})

test('names a fact by the path to its text', () => {
  expect(field.url()).toEqual({ code: 'change.field.url' })
  expect(field.urlAt({ host: 'example.com' })).toEqual({ code: 'change.field.urlAt', params: { host: 'example.com' } })
})

test('adds the facts to the sentences of an answer', () => {
  expect(withFacts({ message: failures.tokenRefused.meaning() })).toEqual({
    message: 'WhatsApp rejected the access token.',
    facts: { message: { code: 'failure.tokenRefused.meaning' } },
  })
})

test('the catalogue loads every module that defines facts', async () => {
  const folder = path.resolve(import.meta.dirname, '../../contracts/facts')
  const defining = globSync('*.ts', { cwd: folder })
    .map((file) => /defineFacts\('(\w+)'/.exec(readFileSync(path.join(folder, file), 'utf8'))?.[1])
    .filter((group) => group !== undefined)
  await import('../../contracts/facts/catalogue.ts')
  const loaded = new Set([...factTexts.keys()].map((code) => code.split('.')[0]))

  expect(defining.length).toBeGreaterThan(0)
  expect(defining.filter((group) => !loaded.has(group))).toEqual([])
})

const events = Object.entries(webhooks).map(([type, webhook]) => ({ type, ...webhook }))

test('lists every webhook event and allows subscribing to all but the test event', () => {
  const types = events.map(({ type }) => type)

  expect(types).toEqual(WebhookEvent.options.map(({ shape }) => shape.type.value))
  expect(types).toEqual([...eventTypes, 'webhook.test'])
  // Receivers know the types by their sentences, which are smaller than the schemas.
  expect(Object.keys(eventFacts)).toEqual(types)
  expect(eventTypes).toEqual(expect.arrayContaining([...defaultEventTypes]))
})

test.each(events)('the example of $type matches its own schema', ({ type, event, example }) => {
  // Strict equality: the schema must know every field of the example.
  expect(event.parse(example)).toEqual(example)
  expect(example.type).toBe(type)
})

test('documents every webhook and no others', () => {
  expect(Object.keys(openApi.webhooks)).toEqual(events.map(({ type }) => type))
})

test.each(events)('the document shows the body of $type, which may gain fields', ({ type, example }) => {
  const body = openApi.webhooks[type]?.post.requestBody.content['application/json']
  const validate = compileSchemaAt(
    pointTo('webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema'),
  )

  expect(body?.examples?.['default']?.value).toEqual(example)
  expect(validate(example)).toBe(true)
  expect(validate({ ...example, laterField: 1, data: { ...example.data, laterField: 1 } })).toBe(true)
  expect(validate({ ...example, data: {} })).toBe(false)
})

test('the events of messages have one schema, which a list of events has too', () => {
  const ofMessages = messageEventTypes.map(
    (type) => openApi.webhooks[type]?.post.requestBody.content['application/json'],
  )
  const { MessageEvent, MessageEventData, ListedEvent } = openApi.components.schemas

  expect(ofMessages.map((body) => body?.schema)).toEqual(
    messageEventTypes.map(() => ({ $ref: '#/components/schemas/MessageEvent' })),
  )
  expect(ListedEvent?.properties?.['event']).toEqual({ $ref: '#/components/schemas/MessageEvent' })
  expect(MessageEvent?.properties?.['type']?.['x-extensible-enum']).toEqual(messageEventTypes)
  // Only fields of every event are required: one with an unknown outcome has no WhatsApp message ID.
  expect(Object.keys(MessageEventData?.properties ?? {})).toEqual(
    expect.arrayContaining(['waMessageId', 'externalId', 'error']),
  )
  expect(MessageEventData?.required?.toSorted()).toEqual(
    ['messageId', 'status', 'to', 'template', 'language', 'accountId'].toSorted(),
  )
})

test.each(events)('documents the headers of $type and the effect of each response', ({ type }) => {
  const { parameters, responses, security } = openApi.webhooks[type]?.post ?? {}

  expect(parameters).toMatchObject(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({ name, in: 'header', required: true })),
  )
  expect(Object.keys(responses ?? {}).toSorted()).toEqual(['2XX', '410', 'default'])
  // The receiver needs no API key, since the signature authenticates the sender.
  expect(security).toEqual([])
})

test('a signature built as documented matches a Standard Webhooks library', () => {
  const secret = `whsec_${Buffer.from('a secret of some twenty-odd bytes').toString('base64')}`
  const [id, seconds] = ['webhook-id', 'webhook-timestamp'].map((name) =>
    String(WebhookHeaders.shape[name as keyof typeof WebhookHeaders.shape].meta()?.examples?.[0]),
  )
  const body = JSON.stringify(webhooks['message.read'].example)

  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`

  expect(signature).toBe(new Webhook(secret).sign(String(id), new Date(Number(seconds) * 1000), body))
})
