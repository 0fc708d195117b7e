import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { HealthFinding } from '../../../contracts/api/account.ts'
import { runChecks } from '../../../src/cli/doctor.ts'
import { encodeId } from '../../../src/platform/ids.ts'
import { report, sendOne, status } from '../../support/callbacks.ts'
import { eventually } from '../../support/eventually.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

const server = await forFile(startTestServer())
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
  // The account is older than the messages that it lost.
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ created_at: sql<Date>`now() - interval '30 days'` })
    .where('id', '=', account.whatsAppAccountId)
    .execute()
})

let count = 0
function lostMessage(hoursAgo: number): string {
  return encodeId('msg', Date.now() - hoursAgo * 3_600_000, Buffer.alloc(10, ++count))
}

const reportLost = (...messageIds: string[]) =>
  report(
    server,
    account,
    messageIds.map((callbackData) => status('delivered', `wamid.${callbackData}`, { callbackData })),
  )

async function findings(): Promise<HealthFinding[]> {
  const { data } = (await account.get('/api/v1/account/health')).json()
  const [health] = data['whatsAppAccounts'] as { findings: HealthFinding[] }[]
  return (health?.findings ?? []).filter(({ code }) => code === 'messages_missing')
}

async function readMetric(): Promise<number> {
  const { text } = await server.request('GET', '/metrics')
  return Number(/^waybill_whatsapp_statuses_missing_total (\d+)$/m.exec(text)?.[1])
}

const logged = () =>
  server.log.filter((line) => line.includes('messages_missing') && line.includes(account.whatsAppAccountId))

test('reports statuses of messages that the database does not have, and logs them once', async () => {
  const before = await readMetric()
  const [first, last] = [lostMessage(5), lostMessage(1)]
  await reportLost(first, last)
  await eventually(async () => expect(await findings()).toHaveLength(1))
  await reportLost(lostMessage(3))

  await eventually(async () => expect((await findings())[0]?.message).toContain('3 statuses of messages sent from'))
  const [finding] = await findings()
  expect(finding).toMatchObject({ severity: 'warning', blocksSending: false })
  expect(logged()).toHaveLength(1)
  expect((await readMetric()) - before).toBe(3)
  const checks = (await runChecks(server.deps)).filter(({ message }) => message === finding?.message)
  expect(checks).toMatchObject([{ check: `health of ${account.whatsAppAccountId}`, ok: true, fix: finding?.fix }])
})

test.each([
  { what: 'of a message that exists', statusOf: async () => (await sendOne(account)).messageId },
  { what: 'of a message that may have been deleted after its retention period', statusOf: () => lostMessage(25) },
  { what: 'of another program on the same number', statusOf: () => 'order-1042' },
  { what: 'with an ID that no message can have', statusOf: () => `msg_${'u'.repeat(26)}` },
  { what: 'with an ID of the future', statusOf: () => lostMessage(-24) },
])('does not report a status $what', async ({ statusOf }) => {
  const messageId = await statusOf()
  await reportLost(messageId, lostMessage(2))
  await eventually(async () => expect(await findings()).toHaveLength(1))
  expect((await findings())[0]?.message).toContain(': 1 statuses')
})

test('does not report messages from before the number was added to the account', async () => {
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ created_at: sql<Date>`now() - interval '2 hours'` })
    .where('id', '=', account.whatsAppAccountId)
    .execute()
  await reportLost(lostMessage(3), lostMessage(1))
  await eventually(async () => expect(await findings()).toHaveLength(1))
  expect((await findings())[0]?.message).toContain(': 1 statuses')
})

test('counts a bounded number of statuses in one callback', async () => {
  await reportLost(...Array.from({ length: 1_500 }, () => lostMessage(2)))
  await eventually(async () => expect(await findings()).toHaveLength(1))
  expect((await findings())[0]?.message).toContain(': 1000 statuses')
})

test('stops reporting a week after the last of these statuses', async () => {
  await reportLost(lostMessage(1))
  await eventually(async () => expect(await findings()).toHaveLength(1))
  await sql`update whatsapp_account_health
    set missing_since = missing_since - interval '8 days', missing_at = missing_at - interval '7 days 1 minute'
    where whatsapp_account_id = ${account.whatsAppAccountId}`.execute(server.deps.db)
  expect(await findings()).toHaveLength(0)

  await reportLost(lostMessage(1))
  await eventually(async () => expect((await findings())[0]?.message).toContain(': 1 statuses'))
})
