import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTemplate } from '../../../contracts/api/template-changes.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { checkNow } from '../../../src/whatsapp-accounts/health/check.ts'
import { failWith } from '../../../src/whatsapp/simulator/errors.ts'
import type { SimulatedResponse } from '../../../src/whatsapp/simulator/exchange.ts'
import { syncDueTemplates, syncTemplates } from '../../../src/templates/sync.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { signedInOwner } from '../../support/user.ts'
import { eventually } from '../../support/eventually.ts'

let names = 0
const server = await forFile(startTestServer())
let account: TestAccount
let template: Record<string, unknown> & { name: string; language: string }
beforeEach(async () => {
  account = await server.account()
  await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
  template = { ...createTemplate.example.input, name: `order_${++names}` }
})

const change = (name: 'create' | 'update' | 'delete' | 'duplicate', body: object) =>
  account.post(`/api/v1/template/${name}`, body)
const list = () => server.simulator.templatesOf(account.wabaId)
const named = (name: string) =>
  list()
    .all()
    .filter((one) => one.name === name)
const atWhatsApp = (name = template.name) => named(name)[0]
const templates = /\/message_templates$/
const sentTo = (path: RegExp, method = 'POST') =>
  server.simulator.requests.filter((request) => request.method === method && path.test(request.path)).length

/** Makes WhatsApp answer these requests in another way, until the test ends or `resume`. */
function answer(method: string, path: RegExp, response: SimulatedResponse): void {
  server.simulator.intercept((request) => (request.method === method && path.test(request.path) ? response : undefined))
}
const resume = () => server.simulator.intercept(undefined)
afterEach(resume)

const withImage = (link: string) => ({ ...template, header: { format: 'IMAGE', sample: { link } } })

async function reviewed(status: string, name = template.name): Promise<void> {
  await eventually(() => expect(atWhatsApp(name)?.status).toBe(status))
  await syncTemplates(server.deps, account.accountId)
}

async function statusOf(name = template.name): Promise<unknown> {
  return (await account.get(`/api/v1/template/${name}/en`)).json().data['status']
}

describe('creates a template', () => {
  test('that is listed as PENDING immediately, approved by the review, and then sendable', async () => {
    const created = await change('create', template)

    expect(created.json()).toMatchObject({
      success: true,
      data: { name: template.name, language: 'en', status: 'PENDING', category: 'UTILITY', changed: true },
    })
    expect(await statusOf()).toBe('PENDING')
    await reviewed('APPROVED')
    const sent = await account.post('/api/v1/message/send', {
      to: '34600111222',
      template: template.name,
      language: 'en',
      variables: { '1': 'Ada', '2': 'B-7' },
    })
    expect(sent.json()).toMatchObject({ success: true, data: { status: 'sent' } })
  })

  test('unless a text has a character that cannot be stored, whose field it names', async () => {
    answer('GET', /^\/\d{16}$/, { kind: 'json', status: 503, body: {} })

    const created = await change('create', { ...template, footer: 'Way\0bill' })

    expect(created.json()).toMatchObject({
      success: false,
      error: { code: 'VALIDATION_ERROR', message: 'footer: must not contain control characters.' },
    })
    expect(atWhatsApp()).toBeUndefined()
  })

  test('that is PENDING if WhatsApp does not say its status', async () => {
    answer('POST', templates, { kind: 'json', status: 200, body: { id: '1234567890123456', status: null } })

    const created = await change('create', template)

    expect(created.json()).toMatchObject({ success: true, data: { status: 'PENDING', changed: true } })
  })

  test('once, even if the request is repeated or its response was lost', async () => {
    await change('create', template)
    expect((await change('create', template)).json().data).toMatchObject({ changed: false, status: 'PENDING' })

    await server.deps.db.deleteFrom('templates').where('name', '=', template.name).execute()
    const repeated = await change('create', template)

    expect(repeated.json().data).toMatchObject({ changed: false })
    expect(named(template.name)).toHaveLength(1)
  })

  test('and rejects other content under the same name', async () => {
    await change('create', template)
    const other = await change('create', { ...template, footer: 'Other' })

    expect(other.statusCode).toBe(409)
    expect(other.json().error.code).toBe('TEMPLATE_EXISTS')
  })

  test('and reports that WhatsApp changed its category', async () => {
    template = { ...template, name: `sale_${names}_promotional` }
    const created = await change('create', template)

    expect(created.json().data).toMatchObject({
      category: 'MARKETING',
      notice: expect.stringContaining('changed the category from UTILITY to MARKETING'),
    })
  })

  test.each([
    { onboardingStatus: 'ONBOARDED', category: 'MARKETING', optedOut: 10 },
    { onboardingStatus: 'ONBOARDED', category: 'UTILITY', optedOut: 0 },
    { onboardingStatus: 'ELIGIBLE', category: 'MARKETING', optedOut: 0 },
  ])('with $optedOut of its optimizations switched off ($category, $onboardingStatus)', async (given) => {
    const { onboardingStatus, category, optedOut } = given
    server.simulator.setMarketing(account.wabaId, { onboardingStatus })
    await checkNow(server.deps, account)

    expect((await change('create', { ...template, category })).json()).toMatchObject({ data: { changed: true } })

    const features = atWhatsApp()?.degrees_of_freedom_spec?.creative_features_spec ?? []
    expect(features.map(({ value }) => value.enroll_status)).toEqual(Array.from({ length: optedOut }, () => 'OPT_OUT'))
  })

  test('and shows why the review rejected it', async () => {
    template = { ...template, name: `order_${names}_rejected` }
    await change('create', template)
    await reviewed('REJECTED')

    expect(await statusOf()).toBe('REJECTED')
    const row = await server.deps.db
      .selectFrom('templates')
      .select('rejected_reason')
      .where('name', '=', template.name)
      .executeTakeFirstOrThrow()
    expect(row.rejected_reason).toBe('INVALID_FORMAT')
  })

  test('of one product, which each message specifies', async () => {
    const { footer: _, ...rest } = template
    const product = {
      ...rest,
      category: 'MARKETING',
      header: { format: 'PRODUCT' },
      body: { text: 'Use code {{1}} to get {{2}} off.', examples: { '1': '25OFF', '2': '25%' } },
      buttons: [{ type: 'SPM' }],
    }
    expect((await change('create', product)).json().data).toMatchObject({ status: 'PENDING', changed: true })
    expect(atWhatsApp()?.components).toEqual([
      { type: 'HEADER', format: 'PRODUCT' },
      expect.objectContaining({ type: 'BODY' }),
      { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] },
    ])
    expect((await change('create', product)).json().data).toMatchObject({ changed: false })
    await reviewed('APPROVED')

    const { data } = (await account.get(`/api/v1/template/${template.name}/en`)).json()
    const sent = await account.post('/api/v1/message/send', { ...(data['example'] as object), to: '34600111222' })

    expect(sent.json()).toMatchObject({ success: true, data: { status: 'sent' } })
    expect(data['example']).toMatchObject({ header: { product: { productId: expect.any(String) } } })
  })

  test('for one-time codes, whose text WhatsApp writes', async () => {
    const code = { name: template.name, language: 'es', category: 'AUTHENTICATION' }
    const authentication = { otpType: 'COPY_CODE', addSecurityRecommendation: true, expirationMinutes: 5 }
    await change('create', { ...code, authentication })
    await reviewed('APPROVED')

    const sent = await account.post('/api/v1/message/send', {
      to: '34600111222',
      template: template.name,
      language: 'es',
      code: '481516',
    })
    expect(sent.json()).toMatchObject({ success: true })
    expect((await change('create', { ...code, authentication })).json().data).toMatchObject({ changed: false })
  })

  test('only if the rules allow it, reporting every problem without calling WhatsApp', async () => {
    const before = server.simulator.requests.length
    const refused = await change('create', { ...template, body: { text: 'Hello {{1}}' }, footer: 'By {{1}}' })

    expect(refused.statusCode).toBe(400)
    expect(refused.json().error.message).toBe(
      'body.text: must not end with a variable: put words or a full stop after it. body.examples.1: is required: WhatsApp reviews an example value of {{1}}. footer: must not have variables.',
    )
    expect(server.simulator.requests).toHaveLength(before)
  })

  test('only if the key may change templates', async () => {
    await updateAccount(server.deps, account.accountId, { templateChangesEnabled: false })
    const refused = await change('create', template)

    expect(refused.statusCode).toBe(403)
    expect(refused.json().error.code).toBe('TEMPLATE_CHANGES_DISABLED')
    expect(atWhatsApp()).toBeUndefined()
  })

  test('at most 100 times an hour and 30 times a minute', async () => {
    for (let call = 0; call < 30; call++) await change('create', template)
    const refused = await change('create', template)

    expect(refused.statusCode).toBe(429)
    expect(refused.headers['retry-after']).toBeDefined()
  })

  test('and records it in the audit log', async () => {
    await change('create', template)
    const entries = await server.deps.db
      .selectFrom('audit_entries')
      .select(['who', 'what', 'outcome'])
      .where('account_id', '=', account.accountId)
      .execute()

    expect(entries).toContainEqual({
      who: 'API key',
      what: `created the template ${template.name} (en)`,
      outcome: 'done',
    })
  })
})

describe('translates an error of WhatsApp', () => {
  test.each([
    [2388293, 'TEMPLATE_REFUSED', 422, 'The body has too many variables for its length.'],
    [2388019, 'TEMPLATE_REFUSED', 422, 'The business account has reached its template limit.'],
    [2388023, 'TEMPLATE_REFUSED', 422, 'This language of the template is being deleted.'],
    [2388155, 'TEMPLATE_REFUSED', 422, 'The name belongs to a sample template of WhatsApp.'],
    [9_999_999, 'TEMPLATE_REFUSED', 422, 'WhatsApp rejected the change.'],
  ])('with subcode %i', async (subcode, code, status, message) => {
    const error = { message: 'Invalid parameter', code: 100, error_subcode: subcode, error_user_msg: 'Nein, danke.' }
    answer('POST', templates, { kind: 'json', status: 400, body: { error } })

    const refused = await change('create', template)

    expect(refused.statusCode).toBe(status)
    expect(refused.json().error.code).toBe(code)
    expect(refused.json().error.message).toContain(message)
    expect(refused.json().error.message).toContain(`WhatsApp said (100/${subcode}): Nein, danke.`)
  })

  test.each([
    { status: 400, code: 80007, requested: undefined, becomes: 429, retryAfter: '600' },
    { status: 400, code: 80007, requested: '3600', becomes: 429, retryAfter: '3600' },
    { status: 429, code: 80007, requested: '30', becomes: 429, retryAfter: '600' },
    { status: 429, code: 190, requested: '900', becomes: 429, retryAfter: '900' },
    { status: 500, code: 131016, requested: undefined, becomes: 503, retryAfter: '10' },
    { status: 503, code: 131016, requested: '120', becomes: 503, retryAfter: '120' },
  ])('$code with HTTP $status and Retry-After $requested as $becomes', async (rejection) => {
    const { status, code, requested, becomes, retryAfter } = rejection
    const text = JSON.stringify({ error: { message: 'Too many calls', code } })
    const headers: Record<string, string> = requested === undefined ? {} : { 'Retry-After': requested }
    answer('POST', templates, { kind: 'text', status, contentType: 'application/json', text, headers })

    const refused = await change('create', template)

    expect(refused.statusCode).toBe(becomes)
    expect(refused.json().error.code).toBe(becomes === 429 ? 'WHATSAPP_THROTTLED' : 'WHATSAPP_UNAVAILABLE')
    expect(refused.headers['retry-after']).toBe(retryAfter)
  })

  test('when the connection broke, after which a repetition finds the template', async () => {
    let cut = 0
    server.simulator.intercept(({ path, method }) =>
      method === 'POST' && path.endsWith('/message_templates') && ++cut === 1 ? { kind: 'drop' } : undefined,
    )
    const lost = await change('create', template)
    const repeated = await change('create', template)

    expect(lost.statusCode).toBe(503)
    expect(lost.json().error.message).toContain(
      'The change may have been made. Repeat the request; if the change was made, the repeat can fail.',
    )
    expect(repeated.json()).toMatchObject({ success: true })
  })
})

test.each([
  {
    what: 'a change',
    run: async () => {
      const refused = await change('create', template)
      expect(refused.json().error).toMatchObject({ code: 'TEMPLATE_REFUSED', failureCode: '200' })
      expect(refused.json().error.message).toContain('permission')
    },
  },
  {
    what: 'a list',
    run: async () => {
      await expect(syncTemplates(server.deps, account.accountId)).rejects.toThrow('200')
    },
  },
])('keeps sending if the token may not manage templates, after $what', async ({ run }) => {
  await account.template({ name: 'known', body: 'Hi' })
  server.simulator.intercept(({ path }) => (templates.test(path) ? failWith(200) : undefined))
  await run()
  resume()

  const sent = await account.post('/api/v1/message/send', { to: '34600111222', template: 'known', language: 'en' })
  expect(sent.statusCode).toBe(200)
})

describe('changes a template', () => {
  test('once a day while it is approved', async () => {
    await change('create', template)
    await reviewed('APPROVED')

    const changed = await change('update', { ...template, footer: 'New' })
    expect(changed.json().data).toMatchObject({ changed: true, status: 'PENDING' })
    expect(atWhatsApp()?.components).toContainEqual({ type: 'FOOTER', text: 'New' })

    await reviewed('APPROVED')
    const again = await change('update', { ...template, footer: 'Newer' })
    expect(again.statusCode).toBe(429)
    expect(again.json().error.message).toContain('one change of an approved template in 24 hours')
  })

  test('and reads it again soon if WhatsApp does not show it right after the change', async () => {
    await change('create', template)
    await reviewed('APPROVED')
    const { id = '' } = atWhatsApp() ?? {}
    answer('GET', new RegExp(`^/${id}$`), { kind: 'json', status: 503, body: {} })

    const changed = await change('update', { ...template, footer: 'New' })
    resume()
    expect(changed.json().data).toMatchObject({ changed: true, status: 'PENDING' })

    list().set(template.name, template.language, { status: 'APPROVED' })
    await syncDueTemplates(server.deps)
    expect(await statusOf()).toBe('APPROVED')
  })

  test('any number of times while it is rejected', async () => {
    await change('create', template)
    for (const footer of ['A', 'B']) {
      await reviewed('APPROVED')
      list().set(template.name, template.language, { status: 'REJECTED' })
      await syncTemplates(server.deps, account.accountId)
      expect((await change('update', { ...template, footer })).json().data).toMatchObject({ changed: true })
    }
  })

  test('after the sandbox has rejected it, and has it approved then', async () => {
    template = { ...template, name: `order_${names}_rejected` }
    await change('create', template)
    await reviewed('REJECTED')

    expect((await change('update', { ...template, footer: 'A' })).json().data).toMatchObject({ changed: true })

    await reviewed('APPROVED')
  })

  test('not while it is in review', async () => {
    await change('create', template)
    const refused = await change('update', { ...template, footer: 'New' })

    expect(refused.statusCode).toBe(422)
    expect(refused.json().error.message).toContain('The template is PENDING.')
  })

  test('without calling WhatsApp if nothing changed', async () => {
    await change('create', template)
    const before = server.simulator.requests.length

    expect((await change('update', template)).json().data).toMatchObject({ changed: false })
    expect(server.simulator.requests).toHaveLength(before)
  })

  test('without calling WhatsApp if the example of a URL is the whole URL', async () => {
    const url = 'https://example.com/orders/'
    const buttons = [{ type: 'URL', text: 'Track', url: `${url}{{1}}`, example: `${url}B-7` }]
    await change('create', { ...template, buttons })
    const before = server.simulator.requests.length

    expect((await change('update', { ...template, buttons })).json().data).toMatchObject({ changed: false })
    expect((await change('create', { ...template, buttons })).json().data).toMatchObject({ changed: false })
    expect(server.simulator.requests).toHaveLength(before)
  })

  test('that differs only in its lifetime', async () => {
    await change('create', { ...template, ttlSeconds: 600 })
    await reviewed('APPROVED')
    const before = sentTo(/^\/\d+$/)

    for (const same of [template, { ...template, ttlSeconds: 600 }])
      for (const name of ['create', 'update'] as const)
        expect((await change(name, same)).json().data).toMatchObject({ changed: false })
    expect((await change('create', { ...template, ttlSeconds: 900 })).json().error.code).toBe('TEMPLATE_EXISTS')
    expect(sentTo(/^\/\d+$/)).toBe(before)

    expect((await change('update', { ...template, ttlSeconds: 900 })).json().data).toMatchObject({ changed: true })
    expect(atWhatsApp()?.message_send_ttl_seconds).toBe(900)
  })

  test('only once WhatsApp says whether its lifetime is the same', async () => {
    await change('create', { ...template, ttlSeconds: 600 })
    await reviewed('APPROVED')
    const { id = '' } = atWhatsApp() ?? {}
    answer('GET', new RegExp(`^/${id}$`), { kind: 'json', status: 503, body: {} })

    const failed = await change('update', { ...template, ttlSeconds: 900 })

    expect(failed.json().error).toMatchObject({
      code: 'WHATSAPP_UNAVAILABLE',
      message: expect.stringContaining('Nothing was changed.'),
    })
    expect(atWhatsApp()?.message_send_ttl_seconds).toBe(600)
  })

  test('unless its name has a character that no stored name can have', async () => {
    const refused = await change('update', { ...template, name: 'order\0ready' })

    expect(refused.json()).toMatchObject({
      success: false,
      error: { code: 'VALIDATION_ERROR', message: 'name: must not contain control characters.' },
    })
  })

  test('not the category of an approved one', async () => {
    await change('create', template)
    await reviewed('APPROVED')
    const refused = await change('update', { ...template, category: 'MARKETING' })

    expect(refused.json().error.message).toContain('category: must stay UTILITY')
  })

  test('not of another account', async () => {
    await change('create', template)
    account = await server.account()
    await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })

    expect((await change('update', { ...template, footer: 'New' })).json().error.code).toBe('TEMPLATE_NOT_FOUND')
    expect((await change('delete', { name: template.name, language: 'en' })).json().error.code).toBe(
      'TEMPLATE_NOT_FOUND',
    )
  })
})

describe('deletes a template', () => {
  test('in one language, once', async () => {
    const deleted = await change('delete', { name: 'order_shipped', language: 'es' })

    expect(deleted.json().data).toEqual({ name: 'order_shipped', languages: ['es'] })
    expect(named('order_shipped').map(({ language }) => language)).toEqual(['en'])
    expect((await change('delete', { name: 'order_shipped', language: 'es' })).json().data['languages']).toEqual([])
    expect(
      (await change('create', { ...template, name: 'order_shipped', language: 'es' })).json().error.message,
    ).toContain('This language of the template is being deleted.')
  })

  test('in all languages only on request', async () => {
    expect((await change('delete', { name: 'order_shipped' })).json().error.message).toBe(
      'language: is required, or set allLanguages to true.',
    )
    const deleted = await change('delete', { name: 'order_shipped', allLanguages: true })

    expect(deleted.json().data['languages']).toEqual(['en', 'es'])
    expect(atWhatsApp('order_shipped')).toBeUndefined()
  })

  test('that WhatsApp no longer has', async () => {
    list().remove('invoice', 'en')

    expect((await change('delete', { name: 'invoice', language: 'en' })).json().data['languages']).toEqual(['en'])
  })

  test('in all languages if WhatsApp has none of them', async () => {
    list().remove('order_shipped', 'en')
    list().remove('order_shipped', 'es')

    const deleted = await change('delete', { name: 'order_shipped', allLanguages: true })
    expect(deleted.json().data['languages']).toEqual(['en', 'es'])
  })

  test.each([
    { why: 'WhatsApp has one of them', error: { message: 'Invalid', code: 100 }, code: 'TEMPLATE_REFUSED' },
    { why: 'it may not', error: { message: 'No permission', code: 200 }, code: 'TEMPLATE_REFUSED' },
  ])('in no language if WhatsApp refuses all, because $why', async ({ error, code }) => {
    list().remove('order_shipped', 'en')
    answer('DELETE', templates, { kind: 'json', status: 400, body: { error } })
    const refused = await change('delete', { name: 'order_shipped', allLanguages: true })
    resume()

    expect(refused.json().error.code).toBe(code)
    expect((await change('delete', { name: 'order_shipped', allLanguages: true })).json().data['languages']).toEqual([
      'en',
      'es',
    ])
  })

  test('not if WhatsApp refuses it for now', async () => {
    list().remove('invoice', 'en')
    const error = { message: 'Too many calls', code: 80008 }
    answer('DELETE', templates, { kind: 'json', status: 400, body: { error } })

    const refused = await change('delete', { name: 'invoice', language: 'en' })

    expect(refused.json().error.code).toBe('WHATSAPP_THROTTLED')
  })

  test('not if its name is unknown', async () => {
    expect((await change('delete', { name: 'order_shiped', language: 'en' })).json().error.message).toContain(
      'Did you mean',
    )
  })
})

describe('copies a template', () => {
  test('under another name', async () => {
    const copied = await change('duplicate', { name: 'track_parcel', language: 'en', newName: 'follow_parcel' })

    expect(copied.json().data).toMatchObject({ name: 'follow_parcel', status: 'PENDING', changed: true })
    expect(atWhatsApp('follow_parcel')?.components).toEqual(atWhatsApp('track_parcel')?.components)
  })

  test('to another WhatsApp account', async () => {
    const wabaId = `9${account.wabaId}`
    const toAccountId = await account.addWhatsAppAccount({ wabaId })
    const copied = await change('duplicate', { name: 'appointment_reminder', language: 'en', toAccountId })

    expect(copied.json().data).toMatchObject({ name: 'appointment_reminder', changed: true })
    expect(server.simulator.templatesOf(wabaId).all()).toHaveLength(1)
  })

  test('not onto itself', async () => {
    const refused = await change('duplicate', { name: 'track_parcel', language: 'en' })

    expect(refused.json().error.message).toBe('newName: the copy needs another name, language or WhatsApp account.')
  })
})

describe('uploads a sample', () => {
  const png = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1')
  const pngOf = (size: number) => Buffer.concat([png, Buffer.alloc(size - png.length)])
  let files: ReturnType<typeof createServer>
  let url: string
  const held: ServerResponse[] = []
  beforeAll(async () => {
    files = createServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/a.png' }).end()
      else if (request.url === '/missing') response.writeHead(404).end()
      else if (request.url === '/text.png') response.end('just text')
      else if (request.url === '/page.png') response.end('<!doctype html>')
      else if (request.url === '/cut')
        response.writeHead(200, { 'content-length': '999' }).write(png, () => response.destroy())
      else if (request.url === '/large')
        response.writeHead(200, { 'content-length': String(6 * 1024 * 1024) }).end(pngOf(6 * 1024 * 1024))
      else if (request.url === '/held') held.push(response)
      else if (request.url === '/liar') response.write(pngOf(6 * 1024 * 1024))
      else response.end(png)
    })
    await new Promise<void>((resolve) => void files.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
  })
  afterAll(() => files.close().closeAllConnections())

  test('from a link, and copies it from the listing', async () => {
    expect((await change('create', withImage(`${url}/a.png`))).json()).toMatchObject({ success: true })
    expect(sentTo(/^\/upload:/)).toBeGreaterThan(0)
    await reviewed('APPROVED')

    const copied = await change('duplicate', { name: template.name, language: 'en', newName: `${template.name}_b` })
    expect(copied.json()).toMatchObject({ success: true })
  })

  const create = (by: TestAccount, path: string) =>
    by.post('/api/v1/template/create', { ...withImage(url + path), name: `order_${++names}` })

  test('from links that count towards the uploads of the account, without blocking other accounts', async () => {
    const waiting = Array.from({ length: 8 }, () => create(account, '/held'))
    await expect.poll(() => held.length).toBe(8)
    const other = await server.account()
    await updateAccount(server.deps, other.accountId, { templateChangesEnabled: true })

    const refused = await create(account, '/a.png')
    expect(refused.statusCode).toBe(429)
    expect(refused.headers['retry-after']).toBe('5')
    expect(refused.json().error).toEqual({
      code: 'RATE_LIMIT_EXCEEDED',
      message: 'This account already has 8 uploads in progress, which is the limit. Try again in 5 seconds.',
    })
    expect((await create(other, '/a.png')).statusCode).toBe(200)

    for (const response of held) response.end(png)
    for (const { statusCode } of await Promise.all(waiting)) expect(statusCode).toBe(200)
    expect((await create(account, '/a.png')).statusCode).toBe(200)
  })

  test('not if the key was revoked while the file arrived', async () => {
    held.length = 0
    const by = await server.account()
    await updateAccount(server.deps, by.accountId, { templateChangesEnabled: true })
    const creating = create(by, '/held')
    await expect.poll(() => held.length).toBe(1)

    await server.deps.db.deleteFrom('api_keys').where('account_id', '=', by.accountId).execute()
    const before = server.simulator.requests.length
    held[0]?.end(png)

    expect((await creating).json().error.code).toBe('INVALID_API_KEY')
    const since = server.simulator.requests.slice(before)
    expect(since.filter(({ path }) => path.endsWith('/message_templates'))).toEqual([])
  })

  test.each([
    { name: 'create', input: () => ({ template: { ...withImage(`${url}/held`), name: `order_${++names}` } }) },
    { name: 'update', input: () => ({ template: withImage(`${url}/held`) }) },
    {
      name: 'duplicate',
      input: () => ({
        name: template.name,
        language: 'en',
        newName: `order_${++names}`,
        sample: { link: `${url}/held` },
      }),
    },
  ])('not in the dashboard if the owner was removed while the file arrived ($name)', async ({ name, input }) => {
    held.length = 0
    const { accountId } = account
    const owner = await signedInOwner(server, accountId)
    await change('create', withImage(`${url}/a.png`))
    await reviewed('APPROVED')
    const changing = owner.mutate(`template.${name}`, { accountId, ...input() })
    await expect.poll(() => held.length).toBe(1)

    await server.deps.db.deleteFrom('owner_roles').where('account_id', '=', accountId).execute()
    const before = server.simulator.requests.length
    held[0]?.end(png)

    expect((await changing).error.data).toMatchObject({ code: 'NOT_FOUND' })
    const since = server.simulator.requests.slice(before)
    expect(since.filter(({ method, path }) => method === 'POST' && !path.includes('upload'))).toEqual([])
  })

  test.each([
    ['/moved', 'header.sample.link: the server answered with a redirect (HTTP 302), which is not followed.'],
    ['/missing', 'header.sample.link: the server answered HTTP 404.'],
    [
      '/text.png',
      'header.sample: must be a JPEG or PNG image. The file type is detected from the content, not the name.',
    ],
    ['/page.png', 'header.sample.link: The file is of no type that a template can show.'],
    ['/cut', 'header.sample.link: the connection '],
    ['/large', 'header.sample.link: The file is larger than 5 MB'],
    ['/liar', 'header.sample.link: The file is larger than 5 MB'],
  ])('not from %s', async (path, problem) => {
    const refused = await change('create', withImage(url + path))

    expect(refused.statusCode).toBe(400)
    expect(refused.json().error.message).toContain(problem)
    expect(atWhatsApp()).toBeUndefined()
  })
})
