import {
  buildTemplateSendPayload,
  GraphApiError,
  WhatsAppClient,
  type TemplateSendInput,
} from '@kapso/whatsapp-cloud-api'
import { expect, test } from 'vitest'
import { WhatsAppAPI } from 'whatsapp-api-js'
import { BodyComponent, BodyParameter, Template } from 'whatsapp-api-js/messages'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { forFile } from '../../support/lifetime.ts'

/** Third-party Cloud API clients (reference, section 7.1) must work with the simulator as with Meta. */

const simulator = await forFile(startSimulator())

/** The client's host is fixed, so the URL is rewritten. */
const toSimulator: typeof fetch = (input, init) =>
  fetch(String(input).replace('https://graph.facebook.com', simulator.url), init)

const kapso = new WhatsAppClient({ accessToken: simulator.accessToken, baseUrl: simulator.url, graphVersion: 'v25.0' })
const apiJs = new WhatsAppAPI({
  token: simulator.accessToken,
  secure: false,
  v: 'v25.0',
  ponyfill: { fetch: toSimulator },
})

function sendByKapso(input: TemplateSendInput) {
  const { components = [], ...template } = buildTemplateSendPayload(input)
  return kapso.messages.sendTemplate({
    phoneNumberId: simulator.phoneNumberId,
    to: '+34600111222',
    // Copied because the client's builder returns a stricter type than its sender accepts.
    template: { ...template, components: components.map((component) => ({ ...component })) },
  })
}

function text(value: string, parameterName?: string) {
  return { type: 'text', text: value, ...(parameterName === undefined ? {} : { parameterName }) } as const
}

test('@kapso/whatsapp-cloud-api sends a template with positional variables', async () => {
  const sent = await sendByKapso({ name: 'order_shipped', language: 'en', body: [text('Ada'), text('A-1024')] })

  expect(sent.messages[0]?.id).toMatch(/^wamid\./)
  expect(sent.contacts[0]).toMatchObject({ input: '+34600111222', waId: '34600111222' })
})

test('@kapso/whatsapp-cloud-api sends a template with named variables', async () => {
  const body = [text('Ada', 'first_name'), text('12 May', 'date'), text('10:30', 'time')]
  const sent = await sendByKapso({ name: 'appointment_reminder', language: 'en', body })

  expect(sent.messages[0]?.id).toMatch(/^wamid\./)
  expect(JSON.stringify(simulator.requests.at(-1)?.body)).toContain('"parameter_name":"first_name"')
})

test('@kapso/whatsapp-cloud-api reads the list of templates page by page', async () => {
  const names: string[] = []
  let after: string | undefined
  do {
    const page = await kapso.templates.list({ businessAccountId: simulator.wabaId, limit: 4, ...(after && { after }) })
    names.push(...page.data.map(({ name }) => name))
    after = page.paging.next ? (page.paging.cursors?.after ?? undefined) : undefined
  } while (after)
  expect(names).toEqual(simulator.templates.all().map(({ name }) => name))
})

test.each([
  { to: '+15550131056', code: 131056, category: 'throttling' },
  { to: '+15550000190', code: 190, category: 'authorization' },
])('@kapso/whatsapp-cloud-api returns error $code', async ({ to, code, category }) => {
  const sending = kapso.messages.sendTemplate({
    phoneNumberId: simulator.phoneNumberId,
    to,
    template: { name: 'hello_world', language: { code: 'en_US' } },
  })
  const error: unknown = await sending.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(GraphApiError)
  expect(error).toMatchObject({ code, category, fbtraceId: expect.any(String) })
})

test('whatsapp-api-js sends a template with callback data', async () => {
  const template = new Template(
    'order_shipped',
    'en',
    new BodyComponent(new BodyParameter('Ada'), new BodyParameter('A-1024')),
  )
  const response = await apiJs.sendMessage(simulator.phoneNumberId, '+34600111222', template, undefined, 'msg_1')

  expect(response).toMatchObject({ messages: [{ id: expect.stringMatching(/^wamid\./), message_status: 'accepted' }] })
  expect(simulator.requests.at(-1)?.body).toMatchObject({ biz_opaque_callback_data: 'msg_1' })
})

test('whatsapp-api-js reports a message held for quality assessment', async () => {
  const template = new Template('hello_world', 'en_US')
  expect(await apiJs.sendMessage(simulator.phoneNumberId, '+15559000002', template)).toMatchObject({
    messages: [{ message_status: 'held_for_quality_assessment' }],
  })
})

test('whatsapp-api-js returns the error of an unknown template', async () => {
  const response = await apiJs.sendMessage(simulator.phoneNumberId, '+34600111222', new Template('nope', 'en'))
  expect(response).toMatchObject({ error: { code: 132001, type: 'OAuthException' } })
})
