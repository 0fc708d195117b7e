import { afterEach, expect, test } from 'vitest'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { fail, failWith } from '../../../src/whatsapp/simulator/errors.ts'
import { ok, type SimulatedResponse } from '../../../src/whatsapp/simulator/exchange.ts'
import type { OutgoingTemplate, Route } from '../../../src/whatsapp/whatsapp.ts'
import { forFile } from '../../support/lifetime.ts'

const offer: OutgoingTemplate = {
  to: '34600111222',
  name: 'autumn_offer',
  language: 'en',
  parameters: [],
  callbackData: 'msg_1',
}
const marketing: Route = ['marketing_messages', 'messages']
const cloudApi: Route = ['messages', 'marketing_messages']

const simulator = await forFile(startSimulator())
simulator.templates.add({
  name: 'autumn_offer',
  language: 'en',
  category: 'MARKETING',
  components: [{ type: 'BODY', text: 'Everything for less.' }],
})
const whatsapp = await forFile(createCloudApi({ url: simulator.url, version: 'v25.0' }))
const impatient = await forFile(createCloudApi({ url: simulator.url, version: 'v25.0', timeouts: { sendMs: 300 } }))
afterEach(() => {
  simulator.intercept(undefined)
  simulator.setMarketing(simulator.wabaId, { onboardingStatus: 'ONBOARDED', offCloudApi: false })
  simulator.requests.length = 0
})

const edges = () => simulator.requests.map(({ path }) => path.split('/').at(-1))

/** Answers the requests of each endpoint; undefined lets the simulator answer. */
function answer(answers: Partial<Record<string, SimulatedResponse>>): void {
  simulator.intercept(({ path }) => answers[path.split('/').at(-1) ?? ''])
}

test('sends a marketing template to its own endpoint, with the documented policy', async () => {
  const outcome = await whatsapp.sendTemplate(simulator, { ...offer, route: marketing })

  expect(outcome).toMatchObject({ kind: 'accepted', waMessageId: expect.stringMatching(/^wamid\./) })
  expect(simulator.requests).toEqual([
    expect.objectContaining({
      path: `/${simulator.phoneNumberId}/marketing_messages`,
      body: {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '+34600111222',
        type: 'template',
        biz_opaque_callback_data: 'msg_1',
        product_policy: 'CLOUD_API_FALLBACK',
        template: { name: 'autumn_offer', language: { code: 'en' } },
      },
    }),
  ])
})

test('leaves the fallback of an account that is no longer onboarded to WhatsApp', async () => {
  simulator.setMarketing(simulator.wabaId, { onboardingStatus: 'ELIGIBLE' })

  expect(await whatsapp.sendTemplate(simulator, { ...offer, route: marketing })).toMatchObject({ kind: 'accepted' })
  expect(edges()).toEqual(['marketing_messages'])
})

test.each([
  { route: marketing, code: 131055 },
  { route: marketing, code: 134100 },
  { route: marketing, code: 3 },
  { route: marketing, code: 10 },
  { route: marketing, code: 200 },
  { route: marketing, code: 131005 },
  { route: cloudApi, code: 131061 },
  { route: cloudApi, code: 131063 },
] as const)('changes the endpoint $route.0 once after $code, and sends the same message', async ({ route, code }) => {
  answer({ [route[0]]: failWith(code) })

  const outcome = await whatsapp.sendTemplate(simulator, { ...offer, route })

  expect(outcome).toMatchObject({ kind: 'accepted', reroutedAfter: code })
  expect(edges()).toEqual([...route])
  const [first, second] = simulator.requests.map(({ body }) => body as Record<string, unknown>)
  expect({ ...second, product_policy: undefined }).toEqual({ ...first, product_policy: undefined })
})

test.each([
  { route: marketing, code: 131063 },
  { route: marketing, code: 131049 },
  { route: marketing, code: 134101 },
  { route: marketing, code: 134102 },
  { route: marketing, code: 190 },
  { route: cloudApi, code: 10 },
  { route: cloudApi, code: 131055 },
  { route: cloudApi, code: 131050 },
  { route: ['messages'], code: 131063 },
] as const)('keeps the endpoint of the route $route after $code', async ({ route, code }) => {
  answer({ [route[0]]: failWith(code) })

  expect(await whatsapp.sendTemplate(simulator, { ...offer, route })).toMatchObject({
    kind: 'refused',
    error: { code },
  })
  expect(edges()).toEqual([route[0]])
})

test('returns the answer of the second endpoint if both reject the template', async () => {
  answer({ marketing_messages: failWith(131055), messages: failWith(131063) })

  expect(await whatsapp.sendTemplate(simulator, { ...offer, route: marketing })).toMatchObject({
    kind: 'refused',
    error: { code: 131063 },
    reroutedAfter: 131055,
  })
  expect(edges()).toEqual(['marketing_messages', 'messages'])
})

test.each([
  { route: marketing, answers: { marketing_messages: failWith(10), messages: failWith(131063) } },
  { route: cloudApi, answers: { marketing_messages: failWith(10), messages: failWith(131061) } },
])('names a missing permission if neither endpoint of $route takes the template', async ({ route, answers }) => {
  answer(answers)

  // Other templates can still be sent.
  expect(await whatsapp.sendTemplate(simulator, { ...offer, route })).toMatchObject({
    kind: 'refused',
    error: { code: 10 },
    accountUnusable: false,
  })
  expect(edges()).toEqual(route)
})

test('keeps the endpoint if a gateway limits requests with the code of a missing permission', async () => {
  answer({ marketing_messages: fail({ status: 429, code: 10, title: 'Too many requests' }) })

  expect(await whatsapp.sendTemplate(simulator, { ...offer, route: marketing })).toMatchObject({
    errorCode: 'WHATSAPP_THROTTLED',
  })
  expect(edges()).toEqual(['marketing_messages'])
})

const wrongEndpoint = { status: 500, code: 131055, title: 'Method not allowed' }

test.each([
  ['a lost connection', { kind: 'drop' }, whatsapp],
  ['no response', { kind: 'silence' }, impatient],
  [
    'half a refusal',
    { kind: 'cut-off', status: 400, body: { error: { code: 131055, message: 'Method not allowed' } } },
    whatsapp,
  ],
  ['a page of a proxy', { kind: 'text', status: 502, contentType: 'text/html', text: '131055' }, whatsapp],
  ['an unreadable acceptance', ok({ error: { code: 131055 } }), whatsapp],
] as const)('never changes the endpoint after %s', async (_, response, client) => {
  answer({ marketing_messages: response })

  expect((await client.sendTemplate(simulator, { ...offer, route: marketing })).kind).not.toBe('accepted')
  // The client may give up before the simulator has read the request.
  await expect.poll(edges).toEqual(['marketing_messages'])
})

test('changes the endpoint after a refusal with HTTP 500, because the code says that nothing was sent', async () => {
  answer({ marketing_messages: fail(wrongEndpoint) })

  expect(await whatsapp.sendTemplate(simulator, { ...offer, route: marketing })).toMatchObject({ kind: 'accepted' })
})

test('does not know the outcome if the answer of the second endpoint is lost', async () => {
  answer({ marketing_messages: failWith(131055), messages: { kind: 'drop' } })

  expect(await whatsapp.sendTemplate(simulator, { ...offer, route: marketing })).toEqual({
    kind: 'unknown',
    reason: 'the connection was lost',
    reroutedAfter: 131055,
  })
  expect(edges()).toEqual(['marketing_messages', 'messages'])
})

test('sends nothing more if the refusal took as long as a send may wait', async () => {
  const late = { kind: 'late', delayMs: 1_100, response: failWith(131055) } as const
  const slow = createCloudApi({ url: simulator.url, version: 'v25.0', timeouts: { queueMs: 1_000 } })
  answer({ marketing_messages: late })

  expect(await slow.sendTemplate(simulator, { ...offer, route: marketing })).toMatchObject({
    kind: 'unavailable',
    reroutedAfter: 131055,
  })
  expect(edges()).toEqual(['marketing_messages'])
  await slow.close()
})

test.each([
  { payment: 'present', hasPaymentMethod: true },
  { payment: 'missing', hasPaymentMethod: false },
  { payment: undefined, hasPaymentMethod: null },
] as const)('reads whether a business account is onboarded, with payment $payment', async (account) => {
  const { payment, hasPaymentMethod } = account
  simulator.setBusinessAccount(simulator.wabaId, { name: 'Shop', ...(payment && { payment }) })
  simulator.setMarketing(simulator.wabaId, { onboardingStatus: 'ELIGIBLE', offCloudApi: true })

  expect(await whatsapp.getMarketingAccess(simulator)).toEqual({
    ok: true,
    value: { onboardingStatus: 'ELIGIBLE', isOffCloudApi: true, hasPaymentMethod },
  })
})
