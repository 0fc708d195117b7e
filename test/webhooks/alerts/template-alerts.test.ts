import { beforeEach, expect, test } from 'vitest'
import { createTemplate } from '../../../contracts/api/template-changes.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { syncTemplates } from '../../../src/templates/sync.ts'
import { announceTemplateChanges } from '../../../src/webhooks/alerts/announce-templates.ts'
import { cleanUpAlerts } from '../../../src/webhooks/alerts/store.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { changeCallback, post } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { listQueuedEvents } from '../../support/events.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { eventually } from '../../support/eventually.ts'

let account: TestAccount
const templateEvents = ['template.approved', 'template.rejected', 'template.paused', 'template.category_changed']

const server = await forFile(startTestServer())
beforeEach(async () => {
  account = await server.account()
  await updateAccount(server.deps, account.accountId, { templateChangesEnabled: true })
  await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/', events: templateEvents })
})

async function listQueued() {
  return (await listQueuedEvents(server.deps, account.accountId)).map(({ event }) => event)
}

/** Announces on two nodes at once, as housekeeping does. */
async function announce(): Promise<void> {
  await Promise.all([announceTemplateChanges(server.deps), announceTemplateChanges(server.deps)])
}

const names = async () => (await listQueued()).map(({ type, data }) => `${type} ${String(data['template'])}`)
const logged = (text: string) => server.log.filter((line) => line.includes(text) && line.includes(account.accountId))

function report(field: string, value: object) {
  return post(server, changeCallback(account.wabaId, field, value))
}

const about = { message_template_id: 1, message_template_name: 'order_shipped', message_template_language: 'en' }

test('announces no templates that an account has when it is connected', async () => {
  await announce()

  expect(await listQueued()).toEqual([])
})

test('announces a rejection and its reason once, in the log and by webhook', async () => {
  await report('message_template_status_update', { event: 'REJECTED', ...about, reason: 'PROMOTIONAL' })
  await announce()
  await announce()

  expect(await listQueued()).toMatchObject([
    {
      type: 'template.rejected',
      data: {
        template: 'order_shipped',
        language: 'en',
        accountIds: [account.whatsAppAccountId],
        status: 'REJECTED',
        category: 'UTILITY',
        reason: 'PROMOTIONAL',
      },
    },
  ])
  expect(logged('WhatsApp rejected a template')).toHaveLength(1)
})

test('resolves the alert about a rejected template once its correction is approved', async () => {
  for (const event of ['REJECTED', 'PENDING', 'APPROVED']) {
    await report('message_template_status_update', { event, ...about, reason: 'NONE' })
    await cleanUpAlerts(server.deps.db)
    await announce()
    await cleanUpAlerts(server.deps.db)
  }

  const alerts = server.deps.db.selectFrom('alerts').select(['code', 'recovery_title'])
  expect(await alerts.where('account_id', '=', account.accountId).execute()).toEqual([
    { code: 'template_stopped', recovery_title: expect.stringContaining('order_shipped') },
  ])
})

test('does not count the acknowledgement of a rejection if its correction is rejected, too', async () => {
  const alerts = server.deps.db.updateTable('alerts').where('account_id', '=', account.accountId)
  for (const event of ['REJECTED', 'PENDING', 'REJECTED']) {
    await report('message_template_status_update', { event, ...about, reason: 'NONE' })
    await announce()
    if (event === 'PENDING') await alerts.set({ acknowledged_at: new Date(), acknowledged_by: 'Ada' }).execute()
  }

  const stored = server.deps.db.selectFrom('alerts').select(['acknowledged_at', 'recovered_at'])
  expect(await stored.where('account_id', '=', account.accountId).execute()).toEqual([
    { acknowledged_at: null, recovered_at: null },
  ])
})

test('announces a pause, the end of it, and a disabled template', async () => {
  for (const event of ['PAUSED', 'APPROVED', 'DISABLED']) {
    await report('message_template_status_update', { event, ...about, reason: 'NONE' })
    await announce()
  }

  expect(await listQueued()).toMatchObject([
    { type: 'template.paused', data: { status: 'PAUSED' } },
    { type: 'template.approved', data: { status: 'APPROVED' } },
    { type: 'template.paused', data: { status: 'DISABLED' } },
  ])
})

test('announces a new category', async () => {
  const change = { previous_category: 'UTILITY', new_category: 'MARKETING' }
  await report('template_category_update', { ...about, ...change })
  await announce()

  expect(await listQueued()).toMatchObject([
    { type: 'template.category_changed', data: { category: 'MARKETING', previousCategory: 'UTILITY' } },
  ])
})

test('announces changes that only a sync found, since a callback can be lost', async () => {
  server.simulator.templatesOf(account.wabaId).set('order_shipped', 'en', { status: 'PAUSED' })
  await syncTemplates(server.deps, account.accountId)
  await announce()

  expect(await names()).toEqual(['template.paused order_shipped'])
})

test('announces that WhatsApp paused a created template', async () => {
  server.simulator.reportTo({ url: `${server.url}/webhooks/whatsapp`, appSecret: 'test-app-secret' })
  const input = { ...createTemplate.example.input, name: 'order_paused' }
  expect((await account.post('/api/v1/template/create', input)).json()).toMatchObject({ success: true })

  await eventually(async () => {
    await announce()
    // If both steps of the review come at once, the approval is not announced.
    expect((await names()).at(-1)).toBe('template.paused order_paused')
  })
})
