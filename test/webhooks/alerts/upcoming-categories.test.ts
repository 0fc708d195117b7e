import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { createTemplate } from '../../../contracts/api/template-changes.ts'
import type { OwnTemplate } from '../../../contracts/dashboard/template.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { readCategoryCost } from '../../../src/messages/costs/category-cost.ts'
import { importRateCards } from '../../../src/messages/costs/rate-cards.ts'
import { syncTemplates } from '../../../src/templates/sync.ts'
import { announceTemplateChanges } from '../../../src/webhooks/alerts/announce-templates.ts'
import { announceUpcomingCategories } from '../../../src/webhooks/alerts/announce-upcoming-categories.ts'
import { cleanUpAlerts } from '../../../src/webhooks/alerts/store.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { changeCallback, post, report, sendOne, status } from '../../support/callbacks.ts'
import { eventually } from '../../support/eventually.ts'
import { forFile } from '../../support/lifetime.ts'
import { listQueuedEvents } from '../../support/events.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { signedInOwner } from '../../support/user.ts'

let now: Date
const server = await forFile(startTestServer({ deps: { now: () => now } }))
let account: TestAccount
beforeEach(async () => {
  now = new Date()
  account = await server.account()
  await addEndpoint(server.deps, account.accountId, {
    url: 'http://127.0.0.1:9/',
    events: ['template.category_changing', 'template.category_changed'],
  })
})

const takesEffectAt = '2027-03-01T08:00:00.000Z'
const about = { message_template_id: 1, message_template_name: 'order_shipped', message_template_language: 'en' }
/** As WhatsApp announces that a template becomes MARKETING. */
const announcement = {
  ...about,
  correct_category: 'MARKETING',
  new_category: 'UTILITY',
  category_update_timestamp: Date.parse(takesEffectAt) / 1000,
}

async function receive(value: object): Promise<void> {
  expect((await post(server, changeCallback(account.wabaId, 'template_category_update', value))).statusCode).toBe(200)
}

async function receiveAndAnnounce(value: object): Promise<void> {
  await receive(value)
  await announce()
}

/** Announces on two nodes at once, as housekeeping does. */
async function announce(): Promise<void> {
  const onNode = () => announceUpcomingCategories(server.deps, readCategoryCost)
  await Promise.all([onNode(), onNode()])
  await announceTemplateChanges(server.deps)
}

const listEvents = async () => (await listQueuedEvents(server.deps, account.accountId)).map(({ event }) => event)
const listTypes = async () => (await listEvents()).map(({ type }) => type)

const setTemplate = (change: { category?: string; correct_category?: string }) =>
  server.simulator.templatesOf(account.wabaId).set('order_shipped', 'en', change)

async function sync(): Promise<void> {
  await syncTemplates(server.deps, account.accountId)
  await announce()
}

async function readDashboard() {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const { accountId } = account
  const templates = await viewer.query<{ items: OwnTemplate[] }>('template.list', { accountId })
  const alerts = await viewer.query<{ items: { title: string; body: string; recoveredAt?: string }[] }>('alert.list', {
    accountId,
  })
  const template = templates.data.items.find(({ name }) => name === 'order_shipped')
  return { template, alerts: alerts.data.items }
}

async function listFindings() {
  const { whatsAppAccounts } = await account.trpc.account.health.query({})
  return whatsAppAccounts.flatMap(({ findings }) => findings).filter(({ code }) => code === 'category_changing')
}

/** Nothing is shown any more. */
async function expectOver(category: string): Promise<void> {
  const { template, alerts } = await readDashboard()
  expect(template).toMatchObject({ category })
  expect(template).not.toHaveProperty('upcomingCategory')
  expect(alerts).toMatchObject([{ recoveredAt: expect.any(String) }])
  expect(await listFindings()).toEqual([])
}

test('reports an announced category with its day and the cost of the last 30 days', async () => {
  await importRateCards(
    server.deps,
    'valid_from,currency,market,countries,marketing,utility\n2026-01-01,EUR,Spain,ES,0.0509,0.0170\n2026-01-01,EUR,Other,*,0.06,0.0077',
  )
  const recipients = ['34600111222', '34600111223', '254700111222']
  for (const to of recipients) {
    const { waMessageId } = await sendOne(account, { to })
    await report(server, account, [status('delivered', waMessageId)])
  }
  await sendOne(account, { to: '34600111224' })

  await receiveAndAnnounce(announcement)

  const cost = { messages: 3, amount: '0.0417', newAmount: '0.1618', currency: 'EUR' }
  const accountIds = [account.whatsAppAccountId]
  expect(await listEvents()).toMatchObject([
    {
      type: 'template.category_changing',
      data: {
        template: 'order_shipped',
        category: 'UTILITY',
        newCategory: 'MARKETING',
        takesEffectAt,
        accountIds,
        cost,
      },
    },
  ])
  const { template, alerts } = await readDashboard()
  expect(template).toMatchObject({
    category: 'UTILITY',
    upcomingCategory: { category: 'MARKETING', takesEffectAt, cost },
  })
  expect(alerts).toMatchObject([
    {
      title: 'WhatsApp will change the category of the template order_shipped (en)',
      body: expect.stringContaining('They cost 0.0417 EUR, and would have cost 0.1618 EUR.'),
    },
  ])
  expect(alerts[0]?.body).toContain('It takes effect at 2027-03-01 08:00 UTC.')
  expect(await listFindings()).toMatchObject([
    {
      severity: 'warning',
      blocksSending: false,
      message:
        'WhatsApp announced another category for 1 of your templates: order_shipped (en) → MARKETING (2027-03-01).',
    },
  ])
})

test('reports the number of messages without a rate card', async () => {
  await server.deps.db.deleteFrom('rate_cards').execute()
  await receiveAndAnnounce(announcement)

  expect((await listEvents())[0]?.data['cost']).toEqual({ messages: 0 })
})

test('sends to the same endpoint until the change is complete', async () => {
  server.simulator.setMarketing(account.wabaId, { onboardingStatus: 'ONBOARDED' })
  await receiveAndAnnounce(announcement)

  await sendOne(account)

  expect(server.simulator.requests.at(-1)?.path).toBe(`/${account.phoneNumberId}/messages`)
})

test('reports an announcement once, whether a callback or the list repeats it', async () => {
  await receiveAndAnnounce(announcement)
  await receive({ ...announcement, category_update_timestamp: undefined })
  setTemplate({ correct_category: 'MARKETING' })
  await sync()

  expect(await listTypes()).toEqual(['template.category_changing'])
  const { template, alerts } = await readDashboard()
  // Neither names the time again.
  expect(template?.upcomingCategory).toMatchObject({ category: 'MARKETING', takesEffectAt })
  expect(alerts).toHaveLength(1)
})

test('reports an announcement that only the list shows', async () => {
  setTemplate({ correct_category: 'MARKETING' })
  await sync()

  expect(await listTypes()).toEqual(['template.category_changing'])
  expect((await listEvents())[0]?.data).not.toHaveProperty('takesEffectAt')
})

test('keeps an announcement that the list does not show yet', async () => {
  await receive(announcement)
  await sync()

  expect((await readDashboard()).template?.upcomingCategory).toMatchObject({ category: 'MARKETING', takesEffectAt })
})

test('ends an announcement that the list no longer shows', async () => {
  setTemplate({ correct_category: 'MARKETING' })
  await sync()

  setTemplate({ correct_category: '' })
  await sync()

  await expectOver('UTILITY')
  expect(await listTypes()).toEqual(['template.category_changing'])
})

test('ends an announcement of a callback that the list does not show an hour later', async () => {
  await receiveAndAnnounce(announcement)
  const anHourAgo = sql<Date>`now() - interval '61 minutes'`
  await server.deps.db.updateTable('templates').set({ upcoming_reported_at: anHourAgo }).execute()
  await sync()

  await expectOver('UTILITY')
})

test('ends an announcement if a callback names the current category', async () => {
  await receiveAndAnnounce(announcement)
  await receiveAndAnnounce({ ...announcement, correct_category: 'UTILITY' })

  await expectOver('UTILITY')
})

test('reports a category again that was announced, withdrawn and announced', async () => {
  for (const correct_category of ['MARKETING', 'UTILITY', 'MARKETING']) {
    await receive({ ...announcement, correct_category })
    await announce()
  }

  expect(await listTypes()).toEqual(['template.category_changing', 'template.category_changing'])
})

test('reports the completion of an announced change', async () => {
  await receiveAndAnnounce(announcement)
  await receiveAndAnnounce({ ...about, previous_category: 'UTILITY', new_category: 'MARKETING' })

  expect(await listTypes()).toEqual(['template.category_changing', 'template.category_changed'])
  await expectOver('MARKETING')
})

test('reports a completed change without an announcement as such', async () => {
  await receiveAndAnnounce({ ...about, previous_category: 'UTILITY', new_category: 'MARKETING' })

  expect(await listTypes()).toEqual(['template.category_changed'])
  expect((await readDashboard()).alerts).toEqual([])
})

test.each(
  Object.entries({
    'the list shows': async () => {
      server.simulator.templatesOf(account.wabaId).remove('order_shipped', 'en')
      now = new Date(Date.now() + 60_000)
      await sync()
    },
    'a callback says': () =>
      post(server, changeCallback(account.wabaId, 'message_template_status_update', { event: 'DELETED', ...about })),
    'a user requests': async () => {
      await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
      await account.post('/api/v1/template/delete', { name: 'order_shipped', language: 'en' })
    },
  }),
)('ends an announcement when %s that the template is deleted', async (_how, remove) => {
  await receiveAndAnnounce(announcement)
  await remove()
  await announce()

  expect((await readDashboard()).alerts).toMatchObject([{ recoveredAt: expect.any(String) }])
  expect(await listFindings()).toEqual([])
})

test('closes the alert about a deleted template whose announcement was kept', async () => {
  await receiveAndAnnounce(announcement)
  const { db } = server.deps
  await db.updateTable('templates').set({ status: 'DELETED' }).where('account_id', '=', account.accountId).execute()

  await cleanUpAlerts(db)

  expect((await readDashboard()).alerts).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test('ends an announcement with the rejection that it meant', async () => {
  await receiveAndAnnounce({ ...announcement, correct_category: 'AUTHENTICATION' })
  const rejection = { event: 'REJECTED', ...about, reason: 'INCORRECT_CATEGORY' }
  await post(server, changeCallback(account.wabaId, 'message_template_status_update', rejection))
  server.simulator.templatesOf(account.wabaId).set('order_shipped', 'en', {
    status: 'REJECTED',
    rejected_reason: 'INCORRECT_CATEGORY',
    correct_category: 'AUTHENTICATION',
  })
  await sync()

  expect(await listTypes()).toEqual(['template.category_changing'])
  expect(await listFindings()).toEqual([])
  expect((await readDashboard()).template).not.toHaveProperty('upcomingCategory')
})

test('says that a template which belongs in AUTHENTICATION will be rejected', async () => {
  await receiveAndAnnounce({ ...announcement, correct_category: 'AUTHENTICATION' })

  const { alerts } = await readDashboard()
  expect(alerts).toMatchObject([{ title: 'WhatsApp will reject the template order_shipped (en)' }])
  expect(await listFindings()).toMatchObject([{ fix: expect.stringMatching(/^WhatsApp rejects a template/) }])
})

test.each([
  { correct_category: '', changes: true },
  { correct_category: null, changes: true },
  { correct_category: 7, changes: true },
])('takes correct_category $correct_category as no announcement', async ({ correct_category }) => {
  await receiveAndAnnounce({ ...about, correct_category, new_category: 'MARKETING', previous_category: 'UTILITY' })

  expect(await listTypes()).toEqual(['template.category_changed'])
})

test('reports announcements of templates of other accounts to those', async () => {
  const other = await server.account()
  await receiveAndAnnounce(announcement)

  expect(await listQueuedEvents(server.deps, other.accountId)).toEqual([])
  const { whatsAppAccounts } = await other.trpc.account.health.query({})
  expect(whatsAppAccounts.flatMap(({ findings }) => findings.map(({ code }) => code))).not.toContain(
    'category_changing',
  )
})

test('announces the category of a created template in the sandbox', async () => {
  await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
  server.simulator.reportTo({ url: `${server.url}/webhooks/whatsapp`, appSecret: 'test-app-secret' })
  const input = { ...createTemplate.example.input, name: 'order_changing' }
  expect((await account.post('/api/v1/template/create', input)).json()).toMatchObject({ success: true })

  await eventually(async () => {
    await announce()
    expect(await listEvents()).toMatchObject([
      { data: { template: 'order_changing', newCategory: 'MARKETING', takesEffectAt: expect.any(String) } },
    ])
  })
})
