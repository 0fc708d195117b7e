import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createCloudApi } from '../../src/whatsapp/client/cloud-api.ts'
import { type Answer, ok } from '../../src/whatsapp/simulator/http.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import type { WhatsApp } from '../../src/whatsapp/whatsapp.ts'

let simulator: Simulator
let whatsapp: WhatsApp

const waba = { wabaId: '200000000000777', accessToken: 'token-of-777' }

beforeAll(async () => {
  simulator = await startSimulator()
  simulator.addPhoneNumber({ ...waba, phoneNumberId: '100000000000777' })
  whatsapp = createCloudApi({ url: simulator.url, version: 'v25.0' })
})
afterEach(() => {
  simulator.intercept(undefined)
  simulator.templatesOf(waba.wabaId).clear()
  simulator.requests.length = 0
})
afterAll(async () => {
  await whatsapp.close()
  await simulator.stop()
})

function item(name: string, extra: object = {}): object {
  return { id: '1', name, language: 'en', status: 'APPROVED', components: [{ type: 'BODY', text: 'Hi' }], ...extra }
}

async function namesListed(): Promise<string[]> {
  const answer = await whatsapp.listTemplates(waba)
  if (!answer.ok) throw new Error(answer.reason)
  return answer.value.map(({ name }) => name)
}

test('all pages are listed, in order', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `template_${index}`)
  for (const name of names) simulator.templatesOf(waba.wabaId).add({ name, body: 'Hi there' })

  expect(await namesListed()).toEqual(names)
  expect(simulator.requests).toHaveLength(3)
  expect(simulator.requests[0]?.query.get('limit')).toBe('100')
})

test('an account without templates is an empty list', async () => {
  expect(await namesListed()).toEqual([])
})

test('what WhatsApp gives only when asked is asked for', async () => {
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

test('the address of the next page is never followed', async () => {
  const visited: string[] = []
  const elsewhere = await startSimulator()
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
  await elsewhere.stop()
})

test.each<{ says: string; answer: (call: number) => Answer; reason: string }>([
  {
    says: 'a list that repeats itself',
    answer: () => ok({ data: [], paging: { cursors: { after: 'same' }, next: 'http://x/' } }),
    reason: 'the list of templates repeats itself',
  },
  {
    says: 'a list without end',
    answer: (call) => ok({ data: [], paging: { cursors: { after: `page-${call}` }, next: 'http://x/' } }),
    reason: 'the list of templates does not end',
  },
  {
    says: 'a page that is no list',
    answer: () => ok({ data: 'none' }),
    reason: 'an unreadable response',
  },
  {
    says: 'a page that is cut off',
    answer: () => ({ kind: 'cut-off', status: 200, body: { data: [item('half')] } }),
    reason: 'an unreadable response',
  },
  {
    says: "a proxy's page",
    answer: () => ({ kind: 'text', status: 502, contentType: 'text/html', text: '<html></html>' }),
    reason: 'an unreadable response with HTTP 502',
  },
])('$says gives no list at all, rather than a part of it', async ({ answer, reason }) => {
  let call = 0
  simulator.intercept(() => answer(call++))
  expect(await whatsapp.listTemplates(waba)).toEqual({ ok: false, refused: false, accountUnusable: false, reason })
})

test('a failure on a later page is a failure of the list', async () => {
  for (let index = 0; index < 101; index++) simulator.templatesOf(waba.wabaId).add({ name: `t_${index}`, body: 'Hi' })
  simulator.intercept(({ query }) =>
    query.has('after')
      ? { kind: 'json', status: 400, body: { error: { code: 80007, message: 'Slow down' } } }
      : undefined,
  )
  expect(await whatsapp.listTemplates(waba)).toMatchObject({ ok: false, refused: true, error: { code: 80007 } })
})

test('unknown fields and values are accepted, and what cannot be read is left out', async () => {
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

test('an id that comes as a number keeps every digit', async () => {
  const page = JSON.stringify({ data: [item('numbered')] }).replace('"id":"1"', '"id":90071992547409937')
  simulator.intercept(() => ({ kind: 'text', status: 200, contentType: 'application/json', text: page }))
  expect(await whatsapp.listTemplates(waba)).toMatchObject({ ok: true, value: [{ id: '90071992547409937' }] })
})

test('what is unknown inside a component is kept', async () => {
  const components = [
    { type: 'CAROUSEL', cards: [{ components: [] }] },
    { type: 'BODY', text: 'Hi', extra: true },
  ]
  simulator.intercept(() => ok({ data: [item('rich', { components })] }))
  expect(await whatsapp.listTemplates(waba)).toMatchObject({ ok: true, value: [{ components }] })
})
