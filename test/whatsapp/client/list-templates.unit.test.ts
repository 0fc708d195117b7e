import { afterEach, expect, test } from 'vitest'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { failWith } from '../../../src/whatsapp/simulator/errors.ts'
import { ok, type SimulatedResponse } from '../../../src/whatsapp/simulator/exchange.ts'
import { forFile, forTest } from '../../support/lifetime.ts'

const waba = { wabaId: '200000000000777', accessToken: 'token-of-777' }

const simulator = await forFile(startSimulator())
simulator.addPhoneNumber({ ...waba, phoneNumberId: '100000000000777' })
const whatsapp = await forFile(createCloudApi({ url: simulator.url, version: 'v25.0' }))
afterEach(() => {
  simulator.intercept(undefined)
  simulator.templatesOf(waba.wabaId).clear()
  simulator.requests.length = 0
})

function item(name: string, extra: object = {}): object {
  return { id: '1', name, language: 'en', status: 'APPROVED', components: [{ type: 'BODY', text: 'Hi' }], ...extra }
}

async function namesListed(): Promise<string[]> {
  const response = await whatsapp.listTemplates(waba)
  if (!response.ok) throw new Error(response.reason)
  return response.value.map(({ name }) => name)
}

test('lists all pages in order', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `template_${index}`)
  for (const name of names) simulator.templatesOf(waba.wabaId).add({ name, body: 'Hi there' })

  expect(await namesListed()).toEqual(names)
  expect(simulator.requests).toHaveLength(3)
  expect(simulator.requests[0]?.query.get('limit')).toBe('100')
})

test('returns an empty list for an account without templates', async () => {
  expect(await namesListed()).toEqual([])
})

test('requests fields that WhatsApp omits by default', async () => {
  const quality_score = { score: 'RED', date: 1 }
  simulator.templatesOf(waba.wabaId).add({ name: 'bad', body: 'Hi', quality_score, rejected_reason: 'SCAM' })

  expect(await whatsapp.listTemplates(waba)).toEqual({
    ok: true,
    value: [
      {
        id: expect.stringMatching(/^\d{16}$/),
        name: 'bad',
        language: 'en',
        status: 'APPROVED',
        category: 'UTILITY',
        parameterFormat: 'POSITIONAL',
        components: [{ type: 'BODY', text: 'Hi' }],
        qualityScore: 'RED',
        rejectedReason: 'SCAM',
      },
    ],
  })
})

test('leaves out templates that Direct Send generated', async () => {
  const list = simulator.templatesOf(waba.wabaId)
  list.add({ name: 'auto_generated_text_1', body: 'Hi', source: 'AUTO_GENERATED' })
  list.add({ name: 'order_shipped', body: 'Hi' })
  list.add({ name: 'order_ready', body: 'Hi', source: 'SOMETHING_NEW' })

  expect(await namesListed()).toEqual(['order_shipped', 'order_ready'])
})

test('lists templates although the provider does not know the field that tells generated ones', async () => {
  simulator.templatesOf(waba.wabaId).add({ name: 'order_shipped', body: 'Hi' })
  simulator.intercept(({ query }) => (query.get('fields')?.includes('source') ? failWith(100) : undefined))

  expect(await namesListed()).toEqual(['order_shipped'])
})

test('ends with the page whose next one has an empty address', async () => {
  simulator.intercept(() => ok({ data: [item('last')], paging: { cursors: { after: '' }, next: '' } }))

  expect(await namesListed()).toEqual(['last'])
})

test('never follows the URL of the next page', async () => {
  const visited: string[] = []
  const elsewhere = await forTest(startSimulator())
  elsewhere.intercept((request) => {
    visited.push(request.path)
    return undefined
  })
  simulator.intercept(({ query }) =>
    query.get('after') === 'two'
      ? ok({ data: [item('second')], paging: { cursors: { after: 'three' } } })
      : ok({ data: [item('first')], paging: { cursors: { after: 'two' }, next: `${elsewhere.url}/v25.0/1/steal` } }),
  )

  expect(await namesListed()).toEqual(['first', 'second'])
  expect(visited).toEqual([])
})

test.each<{ says: string; response: (call: number) => SimulatedResponse; reason: string }>([
  {
    says: 'a repeating list',
    response: () => ok({ data: [], paging: { cursors: { after: 'same' }, next: 'http://x/' } }),
    reason: 'the list of templates repeats itself',
  },
  {
    says: 'an endless list',
    response: (call) => ok({ data: [], paging: { cursors: { after: `page-${call}` }, next: 'http://x/' } }),
    reason: 'the list of templates does not end',
  },
  {
    says: 'a page without the cursor of the next one',
    response: () => ok({ data: [item('first')], paging: { cursors: {}, next: 'http://x/' } }),
    reason: 'the list of templates has no cursor',
  },
  { says: 'a page that is not a list', response: () => ok({ data: 'none' }), reason: 'an unreadable response' },
  {
    says: 'a truncated page',
    response: () => ({ kind: 'cut-off', status: 200, body: { data: [item('half')] } }),
    reason: 'an unreadable response',
  },
  {
    says: "a proxy's error page",
    response: () => ({ kind: 'text', status: 502, contentType: 'text/html', text: '<html></html>' }),
    reason: 'an unreadable response with HTTP 502',
  },
])('fails for $says instead of returning part of it', async ({ response, reason }) => {
  let call = 0
  simulator.intercept(() => response(call++))
  expect(await whatsapp.listTemplates(waba)).toEqual({ ok: false, refused: false, accountUnusable: false, reason })
})

test('fails if a later page fails', async () => {
  for (let index = 0; index < 101; index++) simulator.templatesOf(waba.wabaId).add({ name: `t_${index}`, body: 'Hi' })
  simulator.intercept(({ query }) =>
    query.has('after')
      ? { kind: 'json', status: 400, body: { error: { code: 80007, message: 'Slow down' } } }
      : undefined,
  )
  expect(await whatsapp.listTemplates(waba)).toMatchObject({ ok: false, refused: true, error: { code: 80007 } })
})

test('accepts unknown fields and values and skips unreadable items', async () => {
  simulator.intercept(() =>
    ok({
      data: [
        item('new', { status: 'HIBERNATING', category: 'FREE_SERVICE', novelty: [1], quality_score: 'odd' }),
        { name: 'without_id' },
        'nonsense',
        item('last', { rejected_reason: null, category: 7, parameter_format: null }),
      ],
      summary: {},
    }),
  )
  expect(await whatsapp.listTemplates(waba)).toMatchObject({
    ok: true,
    value: [
      { name: 'new', status: 'HIBERNATING', category: 'FREE_SERVICE' },
      { name: 'last', parameterFormat: 'POSITIONAL' },
    ],
  })
})

const url = { type: 'URL', text: 'Track', url: 'https://example.com/{{1}}' }
const unreadable = { type: 'UNREADABLE' }

test.each<{ what: string; listed: object; read: object }>([
  { what: 'status', listed: { status: null }, read: { status: 'UNREADABLE' } },
  { what: 'list of components', listed: { components: null }, read: { components: [unreadable] } },
  {
    what: 'component',
    listed: { components: [null, { type: 'BODY' }] },
    read: { components: [unreadable, { type: 'BODY' }] },
  },
  {
    what: 'button',
    listed: { components: [{ type: 'BUTTONS', buttons: [{ text: 'No type' }, null, url] }] },
    read: { components: [{ type: 'BUTTONS', buttons: [unreadable, unreadable, url] }] },
  },
  {
    what: 'card',
    listed: {
      components: [{ type: 'CAROUSEL', cards: [{}, { components: [{ type: 'BUTTONS', buttons: [{}, url] }] }] }],
    },
    read: {
      components: [
        {
          type: 'CAROUSEL',
          cards: [{ components: [unreadable] }, { components: [{ type: 'BUTTONS', buttons: [unreadable, url] }] }],
        },
      ],
    },
  },
])(
  'lists a template with an unreadable $what, because a template that is not listed counts as deleted',
  async ({ listed, read }) => {
    simulator.intercept(() => ok({ data: [item('odd', listed)] }))
    expect(await whatsapp.listTemplates(waba)).toMatchObject({ ok: true, value: [{ name: 'odd', ...read }] })
  },
)

test('reads the words of a template in lower case, so that none is a name such as constructor', async () => {
  const buttons = [{ type: 'flow', text: 'Book' }, { type: 'constructor' }]
  const components = [
    { type: 'header', format: 'image' },
    { type: 'body', text: 'Hi' },
    { type: 'buttons', buttons },
  ]
  const words = { status: 'approved', category: 'marketing', parameter_format: 'named' }
  simulator.intercept(() => ok({ data: [item('lower', { ...words, correct_category: 'Marketing', components })] }))

  const read = await whatsapp.listTemplates(waba)
  expect(read).toMatchObject({
    value: [
      {
        status: 'APPROVED',
        category: 'MARKETING',
        parameterFormat: 'NAMED',
        components: [
          { type: 'HEADER', format: 'IMAGE' },
          { type: 'BODY', text: 'Hi' },
          { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Book' }, { type: 'CONSTRUCTOR' }] },
        ],
      },
    ],
  })
  expect(read).not.toHaveProperty('value.0.announcedCategory')
})

test('treats empty words of a template as absent', async () => {
  const words = { category: '', correct_category: '', rejected_reason: '', quality_score: { score: '' } }
  simulator.intercept(() => ok({ data: [item('empty', words)] }))

  const { id, name, language, status } = { id: '1', name: 'empty', language: 'en', status: 'APPROVED' }
  const components = [{ type: 'BODY', text: 'Hi' }]
  expect(await whatsapp.listTemplates(waba)).toEqual({
    ok: true,
    value: [{ id, name, language, status, parameterFormat: 'POSITIONAL', components }],
  })
})

test.each([
  { text: 'Hi {{first_name}}.', format: 'NAMED' },
  { text: 'Hi {{1}}.', format: 'POSITIONAL' },
])('reads $text as $format if WhatsApp does not say it', async ({ text, format }) => {
  const components = [{ type: 'BODY', text }]
  const card = { type: 'CAROUSEL', cards: [{ components }] }
  const unsaid = [null, '', undefined].map((parameter_format) => item('unsaid', { parameter_format, components }))
  simulator.intercept(() => ok({ data: [...unsaid, item('card', { components: [card] })] }))

  const parameterFormat = format
  expect(await whatsapp.listTemplates(waba)).toMatchObject({
    value: Array.from({ length: 4 }, () => ({ parameterFormat })),
  })
})

test('keeps every digit of a numeric ID', async () => {
  const page = JSON.stringify({ data: [item('numbered')] }).replace('"id":"1"', '"id":90071992547409937')
  simulator.intercept(() => ({ kind: 'text', status: 200, contentType: 'application/json', text: page }))
  expect(await whatsapp.listTemplates(waba)).toMatchObject({ ok: true, value: [{ id: '90071992547409937' }] })
})

test('keeps unknown fields of a component', async () => {
  const components = [
    { type: 'CAROUSEL', cards: [{ components: [] }] },
    { type: 'BODY', text: 'Hi', extra: true },
  ]
  simulator.intercept(() => ok({ data: [item('rich', { components })] }))
  expect(await whatsapp.listTemplates(waba)).toMatchObject({ ok: true, value: [{ components }] })
})
