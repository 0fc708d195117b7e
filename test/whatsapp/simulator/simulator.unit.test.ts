import { beforeEach, expect, test } from 'vitest'
import { inEnglish } from '../../../contracts/facts/fact.ts'
import { PhoneNumber, UserId } from '../../../contracts/fields.ts'
import { callbackFields } from '../../../src/whatsapp/callbacks/subscription.ts'
import { groupOf } from '../../../src/whatsapp/simulator/messages/recipient-groups.ts'
import { sandboxRecipients } from '../../../src/whatsapp/simulator/messages/recipients.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import type { AcceptedMessage } from '../../../src/whatsapp/simulator/state.ts'
import { servedVersion } from '../../../src/whatsapp/simulator/http.ts'
import { forFile, forTest } from '../../support/lifetime.ts'

const accepted: AcceptedMessage[] = []

const simulator = await forFile(startSimulator({ onAccepted: (message) => accepted.push(message) }))
beforeEach(() => {
  accepted.length = 0
})

async function call(path: string, options: { method?: string; body?: unknown; token?: string } = {}) {
  const { method = 'GET', body, token = simulator.accessToken } = options
  const response = await fetch(`${simulator.url}/v25.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // Each test names the fields of the response that it expects.
  return { status: response.status, body: (await response.json()) as Reply }
}

interface Reply {
  contacts: object[]
  messages: [{ id: string }]
  data: object[]
  paging: { cursors: { before: string; after: string }; next?: string; previous?: string }
  error: object
}

interface Template {
  name?: string
  language?: { code: string }
  components?: unknown
}

function message(template: Template, more: object = {}): object {
  return {
    messaging_product: 'whatsapp',
    to: '+34600111222',
    type: 'template',
    template: { name: 'order_shipped', language: { code: 'en' }, ...template },
    ...more,
  }
}

function post(body: unknown, phoneNumberId = simulator.phoneNumberId) {
  return call(`${phoneNumberId}/messages`, { method: 'POST', body })
}

const text = (...values: unknown[]) => values.map((value) => ({ type: 'text', text: value }))
const body = (...values: unknown[]) => ({ type: 'body', parameters: text(...values) })
const url = (suffix: string) => ({ type: 'button', sub_type: 'url', index: '0', parameters: text(suffix) })

test('responds to an accepted send like Meta, with the number in the message ID', async () => {
  const answer = await post(message({ components: [body('Ada', 'A-1024')] }, { biz_opaque_callback_data: 'msg_1' }))

  expect(answer).toEqual({
    status: 200,
    body: {
      messaging_product: 'whatsapp',
      contacts: [{ input: '+34600111222', wa_id: '34600111222' }],
      messages: [{ id: expect.stringMatching(/^wamid\.HBgL/), message_status: 'accepted' }],
    },
  })
  const [{ id }] = answer.body.messages
  expect(Buffer.from(id.slice('wamid.'.length), 'base64').toString('latin1')).toContain('34600111222')
})

test('notifies observers of accepted messages only', async () => {
  await post(message({ components: [body('Ada', 'A-1024')] }, { biz_opaque_callback_data: 'msg_1' }))
  await post(message({ components: [] }))
  await post(message({ components: [body('Ada', 'A-1024')] }, { to: '+15550131026' }))

  expect(accepted).toEqual([
    expect.objectContaining({ waId: '34600111222', callbackData: 'msg_1', messageStatus: 'accepted' }),
  ])
})

test.each([
  { to: '+34 600-111-222', waId: '34600111222' },
  { to: '+1 (631) 555-1234', waId: '16315551234' },
  { to: '34600111222', waId: '134600111222' },
  { to: '(631) 555-1234', waId: '16315551234' },
  { to: '16315551234', waId: '16315551234' },
])('resolves $to to $waId for a +1 sender', async ({ to, waId }) => {
  const answer = await post(message({ components: [body('Ada', 'A-1024')] }, { to }))
  expect(answer.body.contacts).toEqual([{ input: to, wa_id: waId }])
})

test.each<{ says: string; template: Template; code: number; details?: string; status?: number }>([
  {
    says: 'an unknown template',
    template: { name: 'nope' },
    status: 404,
    code: 132001,
    details: 'template name (nope) does not exist in en',
  },
  { says: 'a missing language', template: { language: { code: 'en_US' } }, status: 404, code: 132001 },
  { says: 'a template under review', template: { name: 'loyalty_points' }, status: 404, code: 132001 },
  { says: 'a paused template', template: { name: 'spring_sale' }, code: 132015 },
  {
    says: 'too few variables',
    template: { components: [body('Ada')] },
    code: 132000,
    details: 'body: number of localizable_params (1) does not match the expected number of params (2)',
  },
  { says: 'no variables at all', template: {}, code: 132000 },
  { says: 'too many variables', template: { components: [body('a', 'b', 'c')] }, code: 132000 },
  {
    says: 'an empty value',
    template: { components: [body('Ada', ' ')] },
    code: 131008,
    details: 'Parameter of type text is missing text value',
  },
  { says: 'a value that is not text', template: { components: [body('Ada', 7)] }, code: 131008 },
  { says: 'a newline', template: { components: [body('Ada', 'a\nb')] }, code: 132018 },
  { says: 'a tab', template: { components: [body('Ada', 'a\tb')] }, code: 132018 },
  { says: 'five spaces', template: { components: [body('Ada', 'a     b')] }, code: 132018 },
  { says: 'a text that is too long', template: { components: [body('Ada', 'x'.repeat(1024))] }, code: 132005 },
  {
    says: 'a missing name',
    template: {
      name: 'appointment_reminder',
      components: [{ type: 'body', parameters: [{ type: 'text', parameter_name: 'date', text: 'x' }] }],
    },
    code: 132018,
    details: 'body: Parameter first_name is missing',
  },
  {
    says: 'an image header without an image',
    template: { name: 'invoice_ready', components: [body('Ada')] },
    code: 132012,
  },
  {
    says: 'a missing header variable',
    template: { name: 'order_delayed', components: [body('Ada')] },
    code: 132000,
    details: 'header: number of localizable_params (0) does not match the expected number of params (1)',
  },
  {
    says: 'a missing button variable',
    template: { name: 'track_parcel', components: [body('Ada')] },
    code: 131008,
    details: 'buttons: Button at index 0 of type Url requires a parameter',
  },
  {
    says: 'a button of another type',
    template: {
      name: 'track_parcel',
      components: [body('Ada'), { type: 'button', sub_type: 'quick_reply', index: '0', parameters: [] }],
    },
    code: 132018,
    details: 'buttons: Button at index 0 must be of type Url',
  },
  {
    says: 'a coupon as a text',
    template: {
      name: 'birthday_coupon',
      components: [
        body('Ada'),
        { type: 'button', sub_type: 'copy_code', index: 0, parameters: [{ type: 'text', coupon_code: 'GIFT9' }] },
      ],
    },
    code: 131008,
    details: 'buttons: Button at index 0 of type copy_code requires a non-empty parameter coupon_code',
  },
  {
    says: 'the same card twice',
    template: {
      name: 'new_plants',
      components: [
        body('Ada'),
        {
          type: 'carousel',
          cards: [0, 0].map((card_index) => ({ card_index, components: [imageHeader(), url('aloe')] })),
        },
      ],
    },
    code: 132018,
    details: 'carousel: there are two cards of the same index',
  },
  { says: 'components of an unknown type', template: { components: [{ type: 'FOOTER' }] }, code: 100 },
])('rejects $says with $code', async ({ template, code, details, status = 400 }) => {
  const answer = await post(message(template))
  expect(answer.status).toBe(status)
  expect(answer.body.error).toMatchObject({
    message: expect.stringMatching(new RegExp(`^\\(#${code}\\) `)),
    type: 'OAuthException',
    code,
    fbtrace_id: expect.any(String),
    ...(details === undefined ? {} : { error_data: { messaging_product: 'whatsapp', details } }),
  })
})

test.each<{ name: string; components: object[] }>([
  { name: 'invoice_ready', components: [imageHeader(), body('Ada')] },
  { name: 'order_delayed', components: [{ type: 'header', parameters: text('A-1024') }, body('Ada')] },
  { name: 'track_parcel', components: [body('Ada'), url('A-1024')] },
  { name: 'delivery_feedback', components: [body('Ada')] },
  { name: 'delivery_feedback', components: [body('Ada'), quickReply(1)] },
  { name: 'login_code', components: [body('123456'), url('123456')] },
])('accepts $name with complete parameters', async ({ name, components }) => {
  expect(await post(message({ name, components }))).toMatchObject({ status: 200 })
})

test('accepts the types of components in upper case', async () => {
  const upperCase = { type: 'BODY', parameters: [{ type: 'TEXT', text: 'Ada' }] }
  const button = { type: 'BUTTON', sub_type: 'URL', index: 0, parameters: text('A-1024') }
  expect(await post(message({ name: 'track_parcel', components: [upperCase, button] }))).toMatchObject({ status: 200 })

  const image = { type: 'HEADER', parameters: [{ type: 'IMAGE', image: { link: 'https://example.com/a.png' } }] }
  expect(await post(message({ name: 'invoice_ready', components: [image, upperCase] }))).toMatchObject({ status: 200 })
})

test.each<{ body: unknown; says: string }>([
  {
    body: message({ components: [body('Ada', 'A-1024'), { type: 'BUTTONS' }] }),
    says: `Param template['components'][1]['type'] must be one of {BODY, BUTTON, CAROUSEL, HEADER, LIMITED_TIME_OFFER, TAP_TARGET_CONFIGURATION} - got "BUTTONS".`,
  },
  {
    body: message({ components: [{ type: 'button', sub_type: 'phone_number', index: 0, parameters: [] }] }),
    says: `Param template['components'][0]['sub_type'] must be one of {BOOKING_CONFIRMATION, CATALOG, COPY_CODE, FLOW, MPM, ORDER_DETAILS, QUICK_REPLY, REMINDER, URL, VOICE_CALL} - got "phone_number".`,
  },
  {
    body: message({ components: [{ type: 'button', sub_type: 'url', index: 12, parameters: [] }] }),
    says: "Param template['components'][0]['index'] must be at most 9 - got 12.",
  },
  { body: message({ components: {} }), says: "Param template['components'] must be an array - got {}." },
  {
    body: message({ components: [{ type: 'header', parameters: [{ type: 'image', image: { link: 'nowhere' } }] }] }),
    says: "Param template['components'][0]['parameters'][0]['image']['link'] is not a valid URI - got \"nowhere\".",
  },
  {
    body: message({ components: [{ type: 'header', parameters: [{ type: 'image', image: {} }] }] }),
    says: "Param template['components'][0]['parameters'][0]['image'] must have either id or link - got {}.",
  },
  { body: message({ language: undefined }), says: "The parameter template['language'] is required." },
  { body: message({}, { template: 'order_shipped' }), says: 'Param template must be an object - got "order_shipped".' },
  { body: message({}, { to: 34600111222 }), says: 'Param to must be a string - got 34600111222.' },
  { body: message({}, { to: undefined }), says: 'The parameter to is required.' },
  {
    body: message({}, { messaging_product: 'sms' }),
    says: 'Param messaging_product must be one of {WHATSAPP} - got "sms".',
  },
  { body: 'not an object', says: 'The body must be a JSON object.' },
])('names the parameter and its value: $says', async ({ body, says }) => {
  expect((await post(body)).body.error).toMatchObject({ code: 100, message: `(#100) ${says}` })
})

test.each([
  { requested: 'v25.0', served: 'v25.0' },
  { requested: 'v14.0', served: 'v21.0' },
  { requested: 'v2.12', served: 'v21.0' },
])('serves $requested as $served', async ({ requested, served }) => {
  const path = `${simulator.wabaId}/message_templates?limit=1`
  const response = await fetch(`${simulator.url}/${requested}/${path}`, {
    headers: { authorization: `Bearer ${simulator.accessToken}` },
  })
  expect(response.headers.get('facebook-api-version')).toBe(served)
  const { paging } = (await response.json()) as Reply
  expect(paging.next).toContain(`${simulator.url}/${served}/`)
})

test.each(['v99.0', 'v25.1', 'v0.9'])('rejects the version %s, which was never released', async (version) => {
  const response = await fetch(`${simulator.url}/${version}/${simulator.phoneNumberId}`, {
    headers: { authorization: `Bearer ${simulator.accessToken}` },
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { message: `Unknown path components: /${simulator.phoneNumberId}`, type: 'OAuthException', code: 2500 },
  })
})

test.each([
  { requested: 'v21.0', at: '2026-11-22', served: 'v21.0' },
  { requested: 'v21.0', at: '2027-02-01', served: 'v22.0' },
  { requested: undefined, at: '2026-11-22', served: 'v26.0' },
])('serves $requested as $served on $at', ({ requested, at, served }) => {
  expect(servedVersion(requested, Date.parse(at))).toBe(served)
})

test('returns the requested fields of a business account, including its subscribed apps', async () => {
  const fields = 'name,subscribed_apps{id,name},account_review_status'
  expect((await call(`${simulator.wabaId}?fields=${fields}`)).body).toEqual({
    id: simulator.wabaId,
    name: 'Waybill Demo Shop',
    account_review_status: 'APPROVED',
    subscribed_apps: { data: [{ whatsapp_business_api_data: expect.objectContaining({ name: 'Waybill demo app' }) }] },
  })
  expect(Object.keys((await call(simulator.wabaId)).body).toSorted()).toEqual(
    ['id', 'name', 'currency', 'timezone_id', 'message_template_namespace'].toSorted(),
  )
})

test('summarizes the list of templates on request', async () => {
  const path = `${simulator.wabaId}/message_templates?status=PAUSED`
  expect((await call(path)).body).not.toHaveProperty('summary')
  expect((await call(`${path}&summary=total_count,message_template_count`)).body).toMatchObject({
    summary: { total_count: 1, message_template_count: simulator.templates.all().length },
  })
})

function imageHeader(): object {
  return { type: 'header', parameters: [{ type: 'image', image: { link: 'https://example.com/a.png' } }] }
}

function quickReply(index: number): object {
  return { type: 'button', sub_type: 'quick_reply', index, parameters: [{ type: 'payload', payload: 'no' }] }
}

test.each<{ says: string; body: unknown; code: number }>([
  { says: 'a body that is not JSON', body: undefined, code: 100 },
  {
    says: 'callback data over 512 characters',
    body: message({}, { biz_opaque_callback_data: 'x'.repeat(513) }),
    code: 100,
  },
  { says: 'an invalid recipient', body: message({}, { to: '+nobody' }), code: 131009 },
  { says: 'the sender as recipient', body: message({}, { to: '+15550100000' }), code: 131021 },
  {
    says: 'a text outside the service window',
    body: message({}, { type: 'text', text: { body: 'Hi' } }),
    code: 131047,
  },
  { says: 'an unknown type', body: message({}, { type: 'telepathy' }), code: 131051 },
  { says: 'a template message without template', body: message({}, { template: undefined }), code: 131008 },
])('rejects $says with $code', async ({ body, code }) => {
  expect((await post(body)).body.error).toMatchObject({ code })
})

test('rejects a disabled template', async () => {
  simulator.templates.add({ name: 'worn_out', status: 'DISABLED', body: 'Hi' })
  expect((await post(message({ name: 'worn_out' }))).body.error).toMatchObject({ code: 132016 })
  simulator.templates.remove('worn_out', 'en')
})

test.each<{ says: string; path: string; options: Parameters<typeof call>[1]; status: number; error: object }>([
  {
    says: 'an unknown token',
    path: '100000000000001',
    options: { token: 'wrong' },
    status: 401,
    error: { type: 'OAuthException', code: 190 },
  },
  {
    says: 'an unknown id',
    path: '999/messages',
    options: { method: 'POST', body: {} },
    status: 400,
    error: { type: 'GraphMethodException', code: 100, error_subcode: 33 },
  },
  {
    says: 'an unsupported method',
    path: '100000000000001/messages',
    options: { method: 'DELETE' },
    status: 400,
    error: { type: 'GraphMethodException', code: 100 },
  },
  {
    says: 'an unknown path',
    path: 'nonsense',
    options: {},
    status: 404,
    error: { type: 'GraphMethodException', code: 803 },
  },
])('responds to $says with HTTP $status', async ({ path, options, status, error }) => {
  expect(await call(path, options)).toMatchObject({ status, body: { error } })
})

test('limits a token to its own account', async () => {
  simulator.addPhoneNumber({ phoneNumberId: '300', wabaId: '400', accessToken: 'other' })
  const other = simulator.templatesOf('400').add({ name: 'theirs', body: 'Hi' })

  expect(await call('400/message_templates', { token: 'other' })).toMatchObject({
    body: { data: [{ name: 'theirs' }] },
  })
  expect(await call(other.id)).toMatchObject({ status: 400 })
  expect(await call('400/message_templates')).toMatchObject({ status: 400 })
  expect(await post(message({}), '300')).toMatchObject({ status: 400 })
})

test('rejects sends from a disconnected number', async () => {
  simulator.addPhoneNumber({
    phoneNumberId: '301',
    wabaId: simulator.wabaId,
    accessToken: simulator.accessToken,
    status: 'PENDING',
  })
  expect((await post(message({ components: [body('a', 'b')] }), '301')).body.error).toMatchObject({ code: 133010 })
})

const plain = { type: 'BODY', text: 'Your order has shipped.' }
const withButtons = (...buttons: object[]) => [plain, { type: 'BUTTONS', buttons }]
const link = { type: 'URL', text: 'Track', url: 'https://example.com' }
const oneTime = (button: object, footer: object = {}) => [
  { type: 'BODY', add_security_recommendation: true },
  { type: 'FOOTER', code_expiration_minutes: 10, ...footer },
  { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', ...button }] },
]
const carousel = (...cards: object[][]) => [
  plain,
  { type: 'CAROUSEL', cards: cards.map((buttons) => ({ components: [plain, { type: 'BUTTONS', buttons }] })) },
]
const labels = "Buttons can't have any variables, newlines, emojis, or formatting characters."

test.each<{ what: string; components: object[]; category?: string; language?: string; says: string | RegExp }>([
  ...['🚚 Track', 'Track\nit', 'Track *it*', 'Track {{1}}'].map((text) => ({
    what: `the label ${JSON.stringify(text)}`,
    components: withButtons({ ...link, text }),
    says: labels,
  })),
  {
    what: 'such a label of a code',
    category: 'AUTHENTICATION',
    components: oneTime({ text: '🔑 Copy' }),
    says: labels,
  },
  {
    what: 'a code that expires after 91 minutes',
    category: 'AUTHENTICATION',
    components: oneTime({}, { code_expiration_minutes: 91 }),
    says: /1 to 90/,
  },
  { what: 'a link without an address', components: withButtons({ type: 'URL', text: 'Track' }), says: /\(url\)/ },
  { what: 'a quick reply without a label', components: withButtons({ type: 'QUICK_REPLY' }), says: /\(text\)/ },
  { what: 'a coupon without an example', components: withButtons({ type: 'COPY_CODE' }), says: /\(example\)/ },
  { what: 'a flow button without a flow', components: withButtons({ type: 'FLOW', text: 'Book' }), says: /flow_id/ },
  { what: 'three links', components: withButtons(link, link, link), says: /at most 2 buttons of type URL/ },
  { what: 'a footer with a new line', components: [plain, { type: 'FOOTER', text: 'a\nb' }], says: /new lines/ },
  { what: 'a footer with an emoji', components: [plain, { type: 'FOOTER', text: 'Shop 🛍️' }], says: /emojis/ },
  {
    what: 'an offer of another category',
    components: [plain, { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Soon', has_expiration: true } }],
    says: /MARKETING/,
  },
  {
    what: 'different cards',
    components: carousel([link], [{ type: 'QUICK_REPLY', text: 'Yes' }]),
    says: /same components/,
  },
  { what: 'an unknown language', language: 'xx', components: [plain], says: /language/ },
])('rejects a template with $what', async ({ components, category = 'UTILITY', language = 'en', says }) => {
  const template = { name: 'rejected_here', language, category, components }
  const answer = await call(`${simulator.wabaId}/message_templates`, { method: 'POST', body: template })

  expect(answer).toMatchObject({ status: 400, body: { error: { code: 100 } } })
  const { error_user_msg: said } = answer.body.error as unknown as { error_user_msg: string }
  expect(said).toMatch(says)
})

test('names the component and the button of an invalid phone number', async () => {
  const phones = ['+34600111222', 'none'].map((number) => ({
    type: 'PHONE_NUMBER',
    text: 'Call',
    phone_number: number,
  }))
  const components = [
    { type: 'BODY', text: 'Your order has shipped.' },
    { type: 'FOOTER', text: 'Thank you' },
    { type: 'BUTTONS', buttons: phones },
  ]
  const template = { name: 'call_us', language: 'en', category: 'UTILITY', components }

  const answer = await call(`${simulator.wabaId}/message_templates`, { method: 'POST', body: template })

  // Meta's wording.
  expect(answer).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 192,
        message: "(#192) Param components[2]['buttons'][1]['phone_number'] is not a valid phone number.",
      },
    },
  })
})

test('returns quality and rejection reason only on request', async () => {
  const path = `${simulator.wabaId}/message_templates`
  const [plain] = (await call(path)).body.data
  expect(Object.keys(plain ?? {}).toSorted()).toEqual(
    ['category', 'components', 'id', 'language', 'name', 'parameter_format', 'status'].toSorted(),
  )
  const [withFields] = (await call(`${path}?fields=name,quality_score,rejected_reason`)).body.data
  expect(withFields).toEqual({
    id: expect.any(String),
    name: 'order_shipped',
    quality_score: { score: 'GREEN', date: expect.any(Number) },
    rejected_reason: 'NONE',
  })
})

test('links pages forward and back by absolute URLs', async () => {
  const path = `${simulator.wabaId}/message_templates?limit=4&fields=name`
  const first = await call(path)
  const second = await call(`${path}&after=${first.body.paging.cursors.after}`)
  const back = await call(`${path}&before=${second.body.paging.cursors.before}`)

  expect(first.body.paging.next).toContain(`${simulator.url}/v25.0/${simulator.wabaId}/message_templates?`)
  expect(first.body.paging.next).toContain(`after=${first.body.paging.cursors.after}`)
  expect(first.body.paging.previous).toBeUndefined()
  expect(second.body.paging.previous).toBeDefined()
  expect(back.body.data).toEqual(first.body.data)
})

test.each([
  { query: 'name=order_shipped', found: 2 },
  { query: 'name=order_shipped&language=es', found: 1 },
  { query: 'status=paused', found: 1 },
  { query: 'name=order', found: 0 },
  { query: 'name_or_content=PARCEL', found: 3 },
  { query: 'content=parcel', found: 3 },
  { query: 'content=track_parcel', found: 0 },
  { query: 'status=PAUSED,PENDING', found: 2 },
  { query: `status=${encodeURIComponent('["PAUSED","PENDING"]')}`, found: 2 },
  { query: 'quality_score=RED', found: 1 },
])('filters the list by $query', async ({ query, found }) => {
  const answer = await call(`${simulator.wabaId}/message_templates?${query}`)
  expect(answer.body.data).toHaveLength(found)
})

test('serves a template, a number, the numbers of an account and an app subscription', async () => {
  const [template] = simulator.templates.all()
  expect(await call(`${template?.id}?fields=name`)).toMatchObject({ status: 200, body: { name: 'order_shipped' } })
  expect(await call(`${simulator.phoneNumberId}?fields=status`)).toEqual({
    status: 200,
    body: { status: 'CONNECTED', id: simulator.phoneNumberId },
  })
  expect(await call(`${simulator.wabaId}/phone_numbers`)).toMatchObject({
    body: { data: expect.arrayContaining([expect.objectContaining({ id: simulator.phoneNumberId })]) },
  })
  expect(await call(`${simulator.wabaId}/subscribed_apps`, { method: 'POST' })).toMatchObject({
    body: { success: true },
  })
})

test('documents every test recipient with a number or user ID that the public API accepts', () => {
  for (const { to, does } of sandboxRecipients) {
    expect(PhoneNumber.safeParse(to).success || UserId.safeParse(to).success).toBe(true)
    expect(inEnglish(does).length).toBeGreaterThan(10)
  }
  expect(new Set(sandboxRecipients.map(({ to }) => to)).size).toBe(sandboxRecipients.length)
})

test('groups test recipients by what happens to the message', () => {
  const counts = new Map<string, number>()
  for (const recipient of sandboxRecipients) {
    const group = inEnglish(groupOf(recipient))
    counts.set(group, (counts.get(group) ?? 0) + 1)
  }

  expect(Object.fromEntries(counts)).toEqual({
    'Not sent: the recipient': 6,
    'Not sent: the template or its values': 5,
    'Not sent: too many messages': 5,
    'Not sent: your WhatsApp account': 6,
    'Not sent: an error at WhatsApp': 5,
    'Marketing messages': 8,
    'Slow, lost and broken responses': 9,
    'Accepted, then other statuses than usual': 13,
    'Read, then replies, taps and opt-outs': 15,
    'WhatsApp reports something about your account': 12,
    'WhatsApp writes the number differently': 5,
    'User IDs': 8,
  })
})

test('subscribes the demo app to all fields that Waybill reads, so that the sandbox needs no setup', async () => {
  const sandbox = await forTest(startSimulator({ sandbox: true }))
  sandbox.reportTo({ url: 'http://127.0.0.1:9/', appSecret: 'secret' })
  expect(sandbox.callbackOf('300000000000001')).toEqual({
    callbackUrl: 'http://127.0.0.1:9/',
    fields: [...callbackFields],
  })
})

test('closes waiting connections when it stops', async () => {
  const brief = await startSimulator()
  const waiting = fetch(`${brief.url}/v25.0/${brief.phoneNumberId}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${brief.accessToken}` },
    body: JSON.stringify(message({ components: [body('a', 'b')] }, { to: '+15559000003' })),
  }).catch(() => 'let go')
  await expect.poll(() => brief.requests.length).toBe(1)
  await brief.stop()
  expect(await waiting).toBe('let go')
})

test('keeps the business profile of a number, and returns the fields that are asked for', async () => {
  const path = `${simulator.phoneNumberId}/whatsapp_business_profile`
  const update = (profile: object) =>
    call(path, { method: 'POST', body: { messaging_product: 'whatsapp', ...profile } })

  expect(await update({ about: 'Plants by post', websites: ['https://example.com/'] })).toMatchObject({
    status: 200,
    body: { success: true },
  })
  await update({ email: 'shop@example.com' })

  expect((await call(path)).body.data).toEqual([{ messaging_product: 'whatsapp' }])
  expect((await call(`${path}?fields=about,email,vertical`)).body.data).toEqual([
    { about: 'Plants by post', email: 'shop@example.com' },
  ])
  expect(await update({ about: '' })).toMatchObject({ status: 400, body: { error: { code: 100 } } })
})
