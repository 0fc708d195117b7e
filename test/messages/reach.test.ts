import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { countPeople, countReach, countStatement } from '../../src/messages/reach.ts'
import { numberKeySql, toNumberKey } from '../../src/messages/suppressions/number-key.ts'
import { firstIdAt } from '../../src/platform/ids.ts'
import { checkNow } from '../../src/whatsapp-accounts/health/check.ts'
import { announceThresholds } from '../../src/webhooks/alerts/rules/announce-thresholds.ts'
import { receive, report, sendOne, status } from '../support/callbacks.ts'
import { setHealth } from '../support/health.ts'
import { forFile } from '../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'
import { signedInOwner } from '../support/user.ts'

let now: Date
const server = await forFile(startTestServer({ deps: { now: () => now } }))
let account: TestAccount
beforeEach(async () => {
  now = new Date()
  account = await server.account()
  await checkNow(server.deps, account)
})

const setLimit = (limit: string) => setHealth(server.deps, account, { messaging_limit: limit })

/** Counts now, and compares on two nodes at once, as housekeeping does. */
async function count(): Promise<void> {
  await server.deps.db
    .updateTable('whatsapp_account_health')
    .set({ next_reach_at: sql<Date>`now()` })
    .execute()
  await countReach(server.deps)
  await Promise.all([announceThresholds(server.deps), announceThresholds(server.deps)])
}

const readHealth = async (of = account) => (await of.trpc.account.health.query({})).whatsAppAccounts

async function readPeople(): Promise<[people: number, byNumber: number[]]> {
  await count()
  const numbers = (await readHealth()).map(({ number }) => number.addressed)
  return [numbers[0]?.people ?? -1, numbers.map((addressed) => addressed?.byNumber ?? -1)]
}

async function receiveReply(from: string, waMessageId: string): Promise<void> {
  const message = {
    from,
    id: `wamid.${from}`,
    timestamp: String(Math.floor(Date.now() / 1000)),
    type: 'text',
    text: { body: 'Thank you' },
    context: { id: waMessageId },
  }
  await receive(server, account, 'messages', { messages: [message] })
}

const listFindings = async () =>
  (await readHealth()).flatMap(({ findings }) => findings).filter(({ code }) => code.startsWith('messaging_limit'))

async function listAlerts() {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const { data } = await viewer.query<{
    items: { title: string; body: string; severity: string; recoveredAt?: string }[]
  }>('alert.list', { accountId: account.accountId })
  return data.items
}

const lastDay = () => ({
  firstId: firstIdAt('msg', new Date(now.getTime() - 86_400_000)),
  firstEventId: firstIdAt('evt', new Date(now.getTime() - 2 * 86_400_000)),
})

const numberOf = (index: number) => `346001${String(index).padStart(5, '0')}`

async function sendTo(first: number, last: number): Promise<void> {
  for (let index = first; index <= last; index++) await sendOne(account, { to: numberOf(index) })
}

test('counts each person once, whichever number of the portfolio they were addressed by', async () => {
  const second = await account.addWhatsAppAccount()
  await checkNow(server.deps, { accountId: account.accountId, whatsAppAccountId: second })
  await sendTo(1, 3)
  await sendOne(account, { to: numberOf(1) })
  await sendOne(account, { to: numberOf(1), accountId: second })
  await sendOne(account, { to: numberOf(9), accountId: second })

  expect(await readPeople()).toEqual([4, [3, 2]])
})

test('counts the numbers of all accounts that share a portfolio', async () => {
  const other = await server.account()
  await checkNow(server.deps, other)
  await sendTo(1, 2)
  await sendOne(other, { to: numberOf(2) })
  await sendOne(other, { to: numberOf(3) })
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ portfolio_id: '700000000000001' })
    .where('account_id', 'in', [account.accountId, other.accountId])
    .execute()

  expect(await readPeople()).toEqual([3, [2]])
  expect((await readHealth(other))[0]?.number.addressed).toMatchObject({ people: 3, byNumber: 2 })
})

test('counts neither failed messages, nor those of an open window, nor those of the day before', async () => {
  const inWindow = await sendOne(account, { to: numberOf(1) })
  const failed = await sendOne(account, { to: numberOf(2) })
  await account.post('/api/v1/message/send', { to: '15550131026', template: 'order_shipped', language: 'en' })
  await sendOne(account, { to: numberOf(3) })
  await report(server, account, [
    {
      ...status('delivered', inWindow.waMessageId, { recipient: { recipient_id: numberOf(1) } }),
      pricing: { billable: false, type: 'free_entry_point', category: 'utility' },
    },
    status('failed', failed.waMessageId, { recipient: { recipient_id: numberOf(2) }, errors: [{ code: 131026 }] }),
  ])
  expect(await readPeople()).toEqual([1, [1]])

  now = new Date(Date.now() + 24 * 3_600_000)
  expect(await readPeople()).toEqual([0, [0]])
})

test('does not count people who replied to the number less than a day before', async () => {
  const second = await account.addWhatsAppAccount()
  await checkNow(server.deps, { accountId: account.accountId, whatsAppAccountId: second })
  const answered = await sendOne(account, { to: numberOf(1) })
  await sendOne(account, { to: numberOf(2) })
  await receiveReply(numberOf(1), answered.waMessageId)
  // A window opens for the messages that follow.
  now = new Date()
  // The message that was answered counts for a day; the next one to this person does not.
  expect(await readPeople()).toEqual([2, [2, 0]])

  await sendOne(account, { to: numberOf(1) })
  // As if the answered message were older than a day.
  await server.deps.db.updateTable('messages').set({ status: 'failed' }).where('id', '=', answered.messageId).execute()
  expect(await readPeople()).toEqual([1, [1, 0]])

  // A window belongs to the number that received the reply.
  await sendOne(account, { to: numberOf(1), accountId: second })
  expect(await readPeople()).toEqual([2, [1, 1]])
})

test('knows a person by the spellings of the number, and by the user ID', async () => {
  const userId = 'ES.2041776300000077'
  const numbers = ['525512345678', '5215512345678', '5511987654321', '551187654321', numberOf(1)]
  for (const to of numbers) await sendOne(account, { to })
  const { waMessageId } = await sendOne(account, { to: numberOf(1) })
  await report(server, account, [
    status('delivered', waMessageId, { recipient: { recipient_id: numberOf(1), recipient_user_id: userId } }),
  ])
  await sendOne(account, { to: undefined, recipient: userId })
  await sendOne(account, { to: undefined, recipient: 'ES.2041776300000078' })

  expect(await readPeople()).toEqual([4, [4]])
})

test('reports 80% and 100% of the limit once, and when it is no longer near', async () => {
  await setLimit('TIER_10')
  await sendTo(1, 7)
  await count()
  expect(await listFindings()).toEqual([])
  expect(await listAlerts()).toEqual([])

  await sendTo(8, 8)
  await count()
  await count()
  expect(await listFindings()).toMatchObject([
    { code: 'messaging_limit_near', severity: 'warning', message: expect.stringContaining('addressed 8 people') },
  ])
  expect(await listAlerts()).toMatchObject([
    { title: expect.stringMatching(/^The messaging limit of .* is near$/), severity: 'warning' },
  ])

  await sendTo(9, 10)
  await count()
  expect(await listFindings()).toMatchObject([{ code: 'messaging_limit_reached', blocksSending: false }])
  expect(await listAlerts()).toMatchObject([
    { title: expect.stringMatching(/^The messaging limit of .* is reached$/), severity: 'critical' },
  ])

  await setLimit('TIER_2K')
  await count()
  expect(await listFindings()).toEqual([])
  expect(await listAlerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test('ends the alert when the day is over, and when WhatsApp has no limit any more', async () => {
  await setLimit('TIER_2')
  await sendTo(1, 2)
  await count()
  now = new Date(Date.now() + 25 * 3_600_000)
  await count()
  expect(await listAlerts()).toMatchObject([{ recoveredAt: expect.any(String) }])

  now = new Date()
  await count()
  await setLimit('TIER_UNLIMITED')
  await count()
  expect((await listAlerts()).map(({ recoveredAt }) => recoveredAt)).not.toContain(undefined)
  expect((await readHealth())[0]?.number).not.toHaveProperty('addressed')
})

test('says that there are more people if there are too many messages to count', async () => {
  await sendTo(1, 3)
  const numbers = [account]
  expect(await countPeople(server.deps.db, numbers, { ...lastDay(), maxScanned: 2 })).toMatchObject({
    people: 2,
    scanned: 2,
    isComplete: false,
  })
  expect(await countPeople(server.deps.db, numbers, { ...lastDay(), maxScanned: 4 })).toMatchObject({
    people: 3,
    isComplete: true,
  })

  await setLimit('TIER_3')
  await count()
  await setHealth(server.deps, account, {
    reach: JSON.stringify({ people: 3, byNumber: 3, isComplete: false, countedAt: now.toISOString() }),
  })
  expect(await listFindings()).toMatchObject([{ message: expect.stringContaining('addressed at least 3 people') }])
})

test('counts again only when it is due', async () => {
  await count()
  await sendTo(1, 1)
  expect(await countReach(server.deps)).toBe(0)
  expect((await readHealth())[0]?.number.addressed).toMatchObject({ people: 0 })
})

test('compares numbers in SQL as elsewhere', async () => {
  const numbers = [
    '525512345678',
    '5215512345678',
    '541112345678',
    '5491112345678',
    '22997000001',
    '2290197000001',
    '22507123456',
    '2250707123456',
    '2250718139912',
    '5511987654321',
    '551187654321',
    '34600111222',
    '5212345',
    '55',
    'ES.2041776300000077',
    'BR.5511987654321',
  ]
  const { rows } = await sql<{ key: string }>`
    select ${sql.raw(numberKeySql('n'))} as key from unnest(${sql.val(numbers)}::text[]) with ordinality as t (n, at)
    order by at`.execute(server.deps.db)
  expect(rows.map(({ key }) => key)).toEqual(numbers.map(toNumberKey))
})

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Cond'?: string
  Plans?: Plan[]
}

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)]

test('reads only the messages and replies of these days of these accounts, from an index', async () => {
  const { db } = server.deps
  for (const accountId of ['acc_of_others', account.accountId]) {
    await sql`
      insert into messages (
        account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at
      )
      select ${accountId}, 'msg_00' || substr(md5(n::text), 1, 24), 'wa_of_others', 'sent', n::text, 't', 'en', now()
      from generate_series(1, 50000) n`.execute(db)
    await sql`
      insert into events (account_id, id, type, message_id, payload, created_at)
      select ${accountId}, 'evt_00' || substr(md5(n::text), 1, 24),
        case when n % 20 = 0 then 'message.replied' else 'message.sent' end, 'msg_1', '{}', now()
      from generate_series(1, 50000) n`.execute(db)
  }
  await sql`analyze messages, events`.execute(db)
  const query = countStatement([account], { ...lastDay(), maxScanned: 500_000 }).compile(db)
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
    ...query,
    sql: `explain (format json) ${query.sql}`,
  })
  // PostgreSQL reads a partition of a few rows in one go.
  const large = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and reltuples > 1000`.execute(db)
  const reads = flatten(rows[0]?.['QUERY PLAN'][0].Plan as Plan).filter((node) =>
    large.rows.some(({ name }) => name === node['Relation Name']),
  )
  expect([...new Set(reads.map((node) => node['Relation Name']?.slice(0, 6)))].toSorted()).toEqual(['events', 'messag'])
  for (const node of reads) {
    expect(node['Node Type']).toMatch(/^Index/)
    expect(node['Index Cond']).toMatch(/account_id.*id (>=|=)/)
  }
})

test('counts the people of a portfolio although those of another cannot be counted', async () => {
  await setLimit('TIER_250')
  await sendOne(account)
  const other = await server.account()
  await checkNow(server.deps, other)
  await setHealth(server.deps, other, { messaging_limit: 'TIER_250', next_reach_at: new Date('2020-01-01') })
  await setHealth(server.deps, account, { next_reach_at: new Date('2020-01-02') })
  const log = { ...server.deps.log, warn: vi.fn() }
  // Fails for the first portfolio only.
  let calls = 0
  const failing = () => {
    if (++calls === 1) throw new Error('took too long')
    return new Date()
  }

  await countReach({ ...server.deps, log, now: failing })

  expect(log.warn).toHaveBeenCalledTimes(1)
  expect((await readHealth())[0]?.number.addressed).toMatchObject({ people: 1 })
})
