import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { announceNotices } from '../../../src/webhooks/alerts/notices.ts'
import { requiredCallbackFields } from '../../../src/whatsapp/callbacks/subscription.ts'
import { appSecret, callbackPath, getMessage, sendOne } from '../../support/callbacks.ts'
import { eventually } from '../../support/eventually.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

/** What the recipients of the sandbox stand for reaches a server as WhatsApp would send it. */

const server = await forFile(startTestServer())
server.simulator.reportTo({ url: server.url + callbackPath, appSecret })
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
})

async function send(to: string) {
  const { messageId } = await sendOne(account, { to })
  const read = () => getMessage(account, messageId)
  return { messageId, read }
}

async function readMetric(name: string): Promise<number> {
  const { text } = await server.request('GET', '/metrics')
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? 0,
  )
}
const countIgnored = () => readMetric('waybill_whatsapp_statuses_total{result="ignored"}')

async function listFindings(): Promise<string[]> {
  const { whatsAppAccounts } = await account.trpc.account.health.query({})
  return whatsAppAccounts.flatMap(({ findings }) => findings.map(({ code }) => code))
}

test('15558000010 is priced as free for an exempt organization', async () => {
  const { messageId, read } = await send('15558000010')

  await eventually(async () => expect(await read()).toMatchObject({ status: 'read' }))
  const row = await server.deps.db
    .selectFrom('messages')
    .select('pricing')
    .where('account_id', '=', account.accountId)
    .where('id', '=', messageId)
    .executeTakeFirstOrThrow()
  expect(row).toEqual({ pricing: 'utility/paid_exempt' })
})

test('15558000011 is read, and its username changes nothing', async () => {
  const { read } = await send('15558000011')

  await eventually(async () => expect(await read()).toMatchObject({ status: 'read', userId: expect.any(String) }))
  expect(JSON.stringify(await read())).not.toContain('ada.lovelace')
})

test('15558000012 is answered by another app, so its statuses are not applied', async () => {
  const before = await countIgnored()
  const { read } = await send('15558000012')

  await eventually(async () => expect((await countIgnored()) - before).toBe(3))
  await eventually(async () => expect(await listFindings()).toContain('conversations_elsewhere'))
  expect(await read()).toMatchObject({ status: 'sent' })
})

test('15558000012 is not reported to an app without the field standby', async () => {
  const fields = [...requiredCallbackFields]
  const subscription = { callbackUrl: server.url + callbackPath, fields }
  server.simulator.addApp({ id: '300000000000001', name: 'Waybill demo app', secret: appSecret, subscription })
  onTestFinished(() => server.simulator.reportTo({ url: server.url + callbackPath, appSecret }))
  const before = await countIgnored()
  await send('15558000012')
  const later = await send('15558000010')

  await eventually(async () => expect(await later.read()).toMatchObject({ status: 'read' }))
  expect((await countIgnored()) - before).toBe(0)
  expect(await listFindings()).toEqual([])
})

test.each(['15557000014', '15557000015'])('%s causes a callback that is ignored', async (to) => {
  const before = await countIgnored()
  const { read } = await send(to)

  await eventually(async () => expect((await countIgnored()) - before).toBe(1))
  expect(await read()).toMatchObject({ status: 'read' })
  expect(await listFindings()).toEqual([])
})

test('15557000016 causes an error that belongs to no message', async () => {
  const { read } = await send('15557000016')

  const name = 'waybill_whatsapp_callback_errors_total{code="131000"}'
  await eventually(async () => expect(await readMetric(name)).toBe(1))
  expect(await read()).toMatchObject({ status: 'read' })
})

test('15556000011 announces a ban, which 15556000012 withdraws', async () => {
  await send('15556000011')
  await eventually(async () => expect(await listFindings()).toEqual(['account_warned']))
  await announceNotices(server.deps)

  await send('15556000012')
  await eventually(async () => expect(await listFindings()).toEqual([]))
  expect((await account.trpc.account.health.query({})).whatsAppAccounts).toMatchObject([{ active: true }])
})

test('messages to people beyond an enforced limit fail, and those to known people do not', async () => {
  const number = { phoneNumberId: '700000000000001', wabaId: account.wabaId, accessToken: 'limited' }
  const accountId = await account.addWhatsAppAccount(number)
  server.simulator.addPhoneNumber({ ...number, messagingLimit: 'TIER_2', enforcesLimit: true })
  const ids: string[] = []
  for (const to of ['34600111001', '34600111002', '34600111003', '34600111001'])
    ids.push((await sendOne(account, { to, accountId })).messageId)

  await eventually(async () =>
    expect(await Promise.all(ids.map((id) => getMessage(account, id)))).toMatchObject([
      { status: 'read' },
      { status: 'read' },
      { status: 'failed', error: { code: '131048' } },
      { status: 'read' },
    ]),
  )
})
