import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import {
  defaultEventTypes,
  eventTypes,
  messageEventTypes,
  WebhookEvent,
  WebhookHeaders,
  webhooks,
} from '../../contracts/events.ts'
import { eventFacts } from '../../contracts/facts/events.ts'
import { compileSchemaAt, openApi, pointTo } from './document.ts'

const all = Object.entries(webhooks).map(([type, webhook]) => ({ type, ...webhook }))

test('lists every webhook event and allows subscribing to all but the test event', () => {
  const types = all.map(({ type }) => type)

  expect(types).toEqual(WebhookEvent.options.map(({ shape }) => shape.type.value))
  expect(types).toEqual([...eventTypes, 'webhook.test'])
  // Receivers know the types by their sentences, which are smaller than the schemas.
  expect(Object.keys(eventFacts)).toEqual(types)
  expect(eventTypes).toEqual(expect.arrayContaining([...defaultEventTypes]))
})

test.each(all)('the example of $type matches its own schema', ({ type, event, example }) => {
  // Strict equality: the schema must know every field of the example.
  expect(event.parse(example)).toEqual(example)
  expect(example.type).toBe(type)
})

test('documents every webhook and no others', () => {
  expect(Object.keys(openApi.webhooks)).toEqual(all.map(({ type }) => type))
})

test.each(all)('the document shows the body of $type, which may gain fields', ({ type, example }) => {
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
  const events = messageEventTypes.map((type) => openApi.webhooks[type]?.post.requestBody.content['application/json'])
  const { MessageEvent, MessageEventData, ListedEvent } = openApi.components.schemas

  expect(events.map((body) => body?.schema)).toEqual(
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

test.each(all)('documents the headers of $type and the effect of each response', ({ type }) => {
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
