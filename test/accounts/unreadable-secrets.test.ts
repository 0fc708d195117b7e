import { expect, test } from 'vitest'
import { syncDueTemplates, syncTemplates } from '../../src/templates/sync.ts'
import { getMessage, post, sendOne, status } from '../support/callbacks.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'
import { unreadable } from '../support/unreadable.ts'

const server = await forFile(startTestServer())

function change(customer: TestAccount, changes: object): Promise<unknown> {
  return server.deps.db
    .updateTable('whatsapp_accounts')
    .set(changes)
    .where('account_id', '=', customer.accountId)
    .where('id', '=', customer.whatsAppAccountId)
    .execute()
}

async function findTemplateStatus(customer: TestAccount): Promise<unknown> {
  return (await customer.get('/api/v1/template/order_shipped/en')).json().data['status']
}

function listErrors(whatsAppAccountId: string): string[] {
  return server.log.filter((line) => line.includes('"error"') && line.includes(whatsAppAccountId))
}

test.each(['send', 'preview'])('rejects a %s with an unreadable token and logs the error', async (verb) => {
  const customer = await server.account()
  await change(customer, { access_token_encrypted: unreadable })

  const response = await customer.post(`/api/v1/message/${verb}`, exampleSend)

  expect(response.statusCode).toBe(400)
  expect(response.json().error).toMatchObject({
    code: 'NO_ACTIVE_ACCOUNT',
    message: expect.stringContaining(`${customer.whatsAppAccountId} cannot be decrypted`),
  })
  expect(listErrors(customer.whatsAppAccountId)).not.toEqual([])
})

test('syncs with another token if one is unreadable and otherwise fails', async () => {
  const customer = await server.account()
  await change(customer, { access_token_encrypted: unreadable })
  await expect(syncTemplates(server.deps, customer.accountId)).rejects.toThrow('cannot be decrypted')

  await customer.addWhatsAppAccount()
  expect((await syncTemplates(server.deps, customer.accountId)).synced).toBeGreaterThan(0)
})

test('syncs every due WABA when the token of one is unreadable', async () => {
  const lost = await server.account()
  const others = await Promise.all(Array.from({ length: 5 }, () => server.account()))
  for (const other of others)
    server.simulator.templatesOf(other.wabaId).set('order_shipped', 'en', { status: 'PAUSED' })
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ next_sync_at: new Date('2100-01-01') })
    .execute()
  await change(lost, { access_token_encrypted: unreadable, next_sync_at: new Date('2020-01-01') })
  for (const other of others) await change(other, { next_sync_at: new Date('2020-01-02') })

  expect(await syncDueTemplates(server.deps)).toBe(6)

  expect(await Promise.all(others.map(findTemplateStatus))).toEqual(others.map(() => 'PAUSED'))
  expect(listErrors(lost.whatsAppAccountId)).not.toEqual([])
})

test('accepts a callback about two numbers when one app secret is unreadable', async () => {
  const lost = await server.account()
  const other = await server.account()
  const { messageId, waMessageId } = await sendOne(other)
  await change(lost, { app_secret_encrypted: unreadable })

  const changes = [deliveredStatus(lost, 'wamid.lost'), deliveredStatus(other, waMessageId)]
  const response = await post(server, { object: 'whatsapp_business_account', entry: [{ id: '1', changes }] })

  expect(response.statusCode).toBe(200)
  expect(await getMessage(other, messageId)).toMatchObject({ status: 'delivered' })
  expect(listErrors(lost.whatsAppAccountId)).not.toEqual([])
})

function deliveredStatus({ phoneNumberId }: TestAccount, waMessageId: string) {
  const metadata = { display_phone_number: '15550783881', phone_number_id: phoneNumberId }
  const statuses = [status('delivered', waMessageId)]
  return { field: 'messages', value: { messaging_product: 'whatsapp', metadata, statuses } }
}
