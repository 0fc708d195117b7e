import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { defaultEventTypes, eventTypes, WebhookEvent, WebhookHeaders, webhooks } from '../../contracts/events.ts'
import { compileSchemaAt, openApi, pointTo } from './document.ts'

const all = Object.entries(webhooks).map(([type, webhook]) => ({ type, ...webhook }))

test('the table of webhooks holds every event, and endpoints can ask for all but the test', () => {
  const types = all.map(({ type }) => type)

  expect(types).toEqual(WebhookEvent.options.map(({ shape }) => shape.type.value))
  expect(types).toEqual([...eventTypes, 'webhook.test'])
  expect(eventTypes).toEqual(expect.arrayContaining([...defaultEventTypes]))
})

test.each(all)('the example of $type fits its own schema', ({ type, event, example }) => {
  // Equal, so nothing in it is unknown to the schema.
  expect(event.parse(example)).toEqual(example)
  expect(example.type).toBe(type)
})

test('the document describes every webhook and no others', () => {
  expect(Object.keys(openApi.webhooks)).toEqual(all.map(({ type }) => type))
})

test.each(all)('the document shows the body of $type, by the name of its schema', ({ type, event, example }) => {
  const body = openApi.webhooks[type]?.post.requestBody.content['application/json']
  const name = String(event.meta()?.id)
  const validate = compileSchemaAt(pointTo('components', 'schemas', name))

  expect(body?.schema).toEqual({ $ref: `#/components/schemas/${name}` })
  expect(body?.examples?.['default']?.value).toEqual(example)
  expect(validate(example)).toBe(true)
  expect(validate({ ...example, laterField: 1, data: { ...example.data, laterField: 1 } })).toBe(true)
  expect(validate({ ...example, type: 'message.other' })).toBe(false)
})

test.each(all)('the document names the headers of $type, and what each answer leads to', ({ type }) => {
  const { parameters, responses, security } = openApi.webhooks[type]?.post ?? {}

  expect(parameters).toMatchObject(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({ name, in: 'header', required: true })),
  )
  expect(Object.keys(responses ?? {}).toSorted()).toEqual(['2XX', '410', 'default'])
  // The receiver asks for no key of ours: the signature says who we are.
  expect(security).toEqual([])
})

test('a signature made as the document says is what a Standard Webhooks library makes', () => {
  const secret = `whsec_${Buffer.from('a secret of some twenty-odd bytes').toString('base64')}`
  const [id, seconds] = ['webhook-id', 'webhook-timestamp'].map((name) =>
    String(WebhookHeaders.shape[name as keyof typeof WebhookHeaders.shape].meta()?.examples?.[0]),
  )
  const body = JSON.stringify(webhooks['message.read'].example)

  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`

  expect(signature).toBe(new Webhook(secret).sign(String(id), new Date(Number(seconds) * 1000), body))
})
