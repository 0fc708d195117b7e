import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { activateWhatsAppAccount, deactivateWhatsAppAccount } from '../../../src/whatsapp-accounts/change.ts'
import { syncDueTemplates, syncTemplates } from '../../../src/templates/sync.ts'
import { changeCallback, post, templateUpdate } from '../../support/callbacks.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

const server = await forFile(startTestServer())

test('rejects sends of a paused template until it is approved again', async () => {
  const customer = await server.account()

  expect(
    (await post(server, changeCallback(customer.wabaId, 'message_template_status_update', templateUpdate('PAUSED'))))
      .statusCode,
  ).toBe(200)
  expect((await customer.post('/api/v1/message/send', exampleSend)).json().error).toMatchObject({
    code: 'TEMPLATE_NOT_FOUND',
    message: expect.stringContaining('PAUSED'),
  })

  await post(server, changeCallback(customer.wabaId, 'message_template_status_update', templateUpdate('APPROVED')))
  expect((await customer.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
})

test('matches en-US in a callback to the template language en_US', async () => {
  const customer = await server.account()
  await post(
    server,
    changeCallback(customer.wabaId, 'message_template_status_update', {
      event: 'DISABLED',
      message_template_name: 'hello_world',
      message_template_language: 'en-US',
    }),
  )
  expect((await customer.get('/api/v1/template/hello_world/en_US')).json().data).toMatchObject({ status: 'DISABLED' })
})

/** Of all accounts. A sync follows the last one after 30 minutes. */
const setNextSync = (interval: string) =>
  sql`update whatsapp_accounts set next_sync_at = now() + ${interval}::interval`.execute(server.deps.db)

test('corrects a template status on the next sync after an unknown or lost event', async () => {
  const customer = await server.account()
  server.simulator.templatesOf(customer.wabaId).set('order_shipped', 'en', { status: 'PAUSED' })
  await setNextSync('20 minutes')
  expect(await syncDueTemplates(server.deps)).toBe(0)

  await post(
    server,
    changeCallback(customer.wabaId, 'message_template_status_update', {
      event: 'FLAGGED',
      message_template_name: 'order_shipped',
      message_template_language: 'en',
    }),
  )
  expect((await customer.get('/api/v1/template/order_shipped/en')).json().data).toMatchObject({ status: 'APPROVED' })

  expect(await syncDueTemplates(server.deps)).toBe(1)
  expect((await customer.get('/api/v1/template/order_shipped/en')).json().data).toMatchObject({ status: 'PAUSED' })
  const row = await server.deps.db
    .selectFrom('whatsapp_accounts')
    .selectAll()
    .where('account_id', '=', customer.accountId)
    .executeTakeFirstOrThrow()
  expect(row).toMatchObject({ quality_rating: 'GREEN', active: true })
})

test.each(['message_template_status_update', 'message_template_quality_update', 'template_category_update'])(
  'syncs the templates of an account after a %s that does not say which template it is about',
  async (field) => {
    const customer = await server.account()
    server.simulator.templatesOf(customer.wabaId).set('order_shipped', 'en', { status: 'PAUSED' })
    await setNextSync('20 minutes')

    await post(
      server,
      changeCallback(customer.wabaId, field, { ...templateUpdate('PAUSED'), message_template_language: null }),
    )
    await syncDueTemplates(server.deps)

    expect((await customer.get('/api/v1/template/order_shipped/en')).json().data).toMatchObject({ status: 'PAUSED' })
  },
)

test('syncs the templates of an account at most once a minute, however many changes WhatsApp reports', async () => {
  const customer = await server.account()
  await setNextSync('29 minutes 55 seconds')

  for (const status of ['FLAGGED', 'PAUSED', 'FLAGGED'])
    await post(server, changeCallback(customer.wabaId, 'message_template_status_update', { event: status }))

  expect(await syncDueTemplates(server.deps)).toBe(0)
  const { rows } = await sql<{ isSoon: boolean }>`
    select next_sync_at < now() + interval '1 minute' as "isSoon" from whatsapp_accounts
    where account_id = ${customer.accountId}`.execute(server.deps.db)
  expect(rows).toEqual([{ isSoon: true }])
})

test('syncs the templates of an account after WhatsApp reports that one was edited', async () => {
  const customer = await server.account()
  const components = [{ type: 'BODY', text: 'Your order is on its way.' }]
  server.simulator.templatesOf(customer.wabaId).set('order_shipped', 'en', { components })
  await setNextSync('20 minutes')
  const edited = {
    ...templateUpdate('EDITED'),
    message_template_element: 'Your order is on its way.',
    message_template_buttons: [{ message_template_button_type: 'VOICE_CALL', message_template_button_text: 'Call' }],
  }

  expect(
    (await post(server, changeCallback(customer.wabaId, 'message_template_components_update', edited))).statusCode,
  ).toBe(200)

  expect(await syncDueTemplates(server.deps)).toBe(1)
  expect((await customer.get('/api/v1/template/order_shipped/en')).json().data).toMatchObject({ components })
})

test('syncs templates whose texts, keys or reasons cannot be stored as they are', async () => {
  const customer = await server.account()
  const templates = server.simulator.templatesOf(customer.wabaId)
  const button = { type: 'URL', text: 'Track \u{1f69a}', url: 'https://example.com/{{1}}', 'key\udc00': '\0' }
  templates.add({
    name: 'cut_off',
    components: [
      { type: 'BODY', text: 'On its way \ud83d\0' },
      { type: 'BUTTONS', buttons: [button] },
    ],
    rejected_reason: 'INVALID\0_FORMAT\ud800',
  })
  templates.set('order_shipped', 'en', { status: 'PAUSED' })

  await syncTemplates(server.deps, customer.accountId)

  expect((await customer.get('/api/v1/template/order_shipped/en')).json().data).toMatchObject({ status: 'PAUSED' })
  const stored = () =>
    server.deps.db
      .selectFrom('templates')
      .select(['components', 'status', 'rejected_reason'])
      .where('account_id', '=', customer.accountId)
      .where('name', '=', 'cut_off')
      .executeTakeFirstOrThrow()
  expect(await stored()).toEqual({
    components: [
      { type: 'BODY', text: 'On its way \ufffd' },
      { type: 'BUTTONS', buttons: [{ ...button, 'key\udc00': undefined, 'key\ufffd': '' }] },
    ],
    status: 'APPROVED',
    rejected_reason: 'INVALID_FORMAT\ufffd',
  })

  const rejected = { ...templateUpdate('REJECTED'), message_template_name: 'cut_off', reason: 'SCAM\0\udc00' }
  const callback = changeCallback(customer.wabaId, 'message_template_status_update', rejected)
  expect((await post(server, callback)).statusCode).toBe(200)
  expect(await stored()).toMatchObject({ status: 'REJECTED', rejected_reason: 'SCAM\ufffd' })
})

test('rejects sends while WhatsApp disables the business account', async () => {
  const customer = await server.account()
  await post(server, disabled(customer))
  expect((await customer.post('/api/v1/message/send', exampleSend)).json().error).toMatchObject({
    code: 'NO_ACTIVE_ACCOUNT',
    message: expect.stringContaining('WhatsApp disabled the business account'),
  })

  await post(server, reinstated(customer))
  expect((await customer.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
})

test('ignores a callback that disables an account, repeated after WhatsApp reinstated it', async () => {
  const customer = await server.account()
  for (const callback of [disabled(customer, 1), reinstated(customer, 3), disabled(customer, 1), disabled(customer, 2)])
    await post(server, callback)
  expect((await customer.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)

  await post(server, disabled(customer, 4))
  expect((await customer.post('/api/v1/message/send', exampleSend)).statusCode).toBe(400)
})

test('ignores a callback that disables an account and arrives after the one that reinstates it', async () => {
  const customer = await server.account()
  await post(server, reinstated(customer, 2))
  await post(server, disabled(customer, 1))
  expect((await customer.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
})

test('ignores a callback from before a user activated the account', async () => {
  const customer = await server.account()
  const callback = disabled(customer, 1)
  await post(server, callback)
  await activateWhatsAppAccount(server.deps, customer)

  // WhatsApp repeats it, because it did not get the answer.
  await post(server, callback)

  expect((await customer.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
})

test('does not reinstate an account that a user deactivated', async () => {
  const customer = await server.account()
  await deactivateWhatsAppAccount(server.deps, customer)

  await post(server, disabled(customer))
  await post(server, reinstated(customer))

  expect((await customer.post('/api/v1/message/send', exampleSend)).json().error).toMatchObject({
    code: 'NO_ACTIVE_ACCOUNT',
    message: expect.stringContaining('deactivated by a user'),
  })
})

test.each(['PARTNER_REMOVED', 'PARTNER_APP_UNINSTALLED', 'ACCOUNT_OFFBOARDED'])(
  'stops sending after %s, which names the portfolio of a partner as its entry',
  async (event) => {
    const customer = await server.account()
    const other = await server.account()

    const value = { event, waba_info: { waba_id: customer.wabaId, owner_business_id: '300000000000009' } }
    await post(server, changeCallback('900000000000001', 'account_update', value))

    expect((await customer.post('/api/v1/message/send', exampleSend)).json().error).toMatchObject({
      code: 'NO_ACTIVE_ACCOUNT',
    })
    expect((await other.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
  },
)

function disabled(customer: TestAccount, second?: number): object {
  return banUpdate(customer, { waba_ban_state: 'DISABLE', waba_ban_date: 'today' }, second)
}

function reinstated(customer: TestAccount, second?: number): object {
  return banUpdate(customer, { waba_ban_state: 'REINSTATE' }, second)
}

function banUpdate({ wabaId }: TestAccount, ban_info: object, second?: number): object {
  const time = second && 1_790_000_000 + second
  return changeCallback(wabaId, 'account_update', { event: 'DISABLED_UPDATE', ban_info }, time)
}
