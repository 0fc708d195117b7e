import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Costs } from '../../../contracts/dashboard/cost.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { importRateCards, listRateCards, removeRateCard } from '../../../src/messages/costs/rate-cards.ts'
import { foldCounts, foldOldBuckets } from '../../../src/messages/queries/counts-store.ts'
import { report, sendOne, status } from '../../support/callbacks.ts'
import { exampleSend } from '../../support/example-send.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { signedInOwner } from '../../support/user.ts'
import { forFile } from '../../support/lifetime.ts'

let account: TestAccount
/** The time of the server. */
let now: Date
/** The time at which the test began: midnight may pass meanwhile. */
let today: Date

const server = await forFile(startTestServer({ deps: { now: () => now } }))
beforeEach(async () => {
  today = new Date()
  now = today
  account = await server.account()
  await server.deps.db.deleteFrom('rate_cards').execute()
})

const dateOf = (time: Date) => time.toISOString().slice(0, 10)
const daysAgo = (days: number) => new Date(today.getTime() - days * 86_400_000)

const header = 'valid_from,currency,market,countries,marketing,utility'
const importRows = (...rows: string[]) => importRateCards(server.deps, [header, ...rows].join('\n'))

async function costs(input: object = {}): Promise<Costs> {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const { data } = await viewer.query<Costs>('cost.get', { accountId: account.accountId, ...input })
  return data
}

const regular = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' }

/** Sends a message and reports its statuses with a price, as WhatsApp does. */
async function deliver(to: string, pricing: object | null = regular, statuses = ['sent', 'delivered']) {
  const { messageId, waMessageId } = await sendOne(account, { to })
  for (const name of statuses)
    await report(server, account, [{ ...status(name, waMessageId, { callbackData: messageId }), pricing }])
}

test('adds up the costs of delivered messages by category and country', async () => {
  await importRows('2026-01-01,EUR,Spain,ES,0.0509,0.0170', '2026-01-01,EUR,Other,*,0.06,0.0077')
  await deliver('34600111222')
  await deliver('34600111223', { ...regular, category: 'marketing' }, ['sent', 'delivered', 'read', 'delivered'])
  await deliver('254700111222', { ...regular, billable: undefined })
  await deliver('34600111224', { ...regular, billable: false, type: 'free_entry_point' }, ['read'])
  await deliver('34600111225', regular, ['sent'])
  await deliver('34600111226', null)
  await deliver('34600111227', { category: 7, billable: 'yes' })

  const before = await costs()
  await foldCounts(server.deps.db)

  expect(await costs()).toEqual(before)
  expect(before).toEqual({
    currency: 'EUR',
    rateCards: ['2026-01-01'],
    totals: { billable: 3, free: 1, unrated: 0, amount: '0.0756' },
    unpriced: 2,
    categories: [
      { category: 'marketing', billable: 1, free: 0, unrated: 0, amount: '0.0509' },
      { category: 'utility', billable: 2, free: 1, unrated: 0, amount: '0.0247' },
    ],
    countries: [
      { country: 'ES', billable: 2, free: 1, unrated: 0, amount: '0.0679' },
      { country: 'KE', billable: 1, free: 0, unrated: 0, amount: '0.0077' },
    ],
    freeReasons: [{ reason: 'free_entry_point', count: 1 }],
  })
})

test.each([
  { name: 'as Meta shows it', more: {} },
  {
    name: 'with the charge of a template with a maximum price',
    more: { type: 'regular', cost: { amount: 0.035, currency: 'USD' } },
  },
])('charges the marketing rate for messages of the Marketing Messages API, $name', async ({ more }) => {
  await importRows('2026-01-01,EUR,Spain,ES,0.0509,0.0170')
  await deliver('34600111222', { billable: true, pricing_model: 'PMP', category: 'marketing_lite', ...more })

  expect((await costs()).categories).toEqual([
    { category: 'marketing_lite', billable: 1, free: 0, unrated: 0, amount: '0.0509' },
  ])
})

test('charges utility messages inside a window, and nothing in a free entry window, by their type alone', async () => {
  await importRows('2026-01-01,EUR,Spain,ES,0.0509,0.0170')
  await deliver('34600111222', { pricing_model: 'PMP', type: 'regular', category: 'utility' })
  await deliver('34600111223', { billable: true, pricing_model: 'PMP', type: 'free_entry_point', category: 'utility' })
  await deliver('34600111224', { type: 'regular', category: 'utility', subtype: 'paid_exempt' })

  expect(await costs()).toMatchObject({
    totals: { billable: 1, free: 2, amount: '0.017' },
    freeReasons: [
      { reason: 'free_entry_point', count: 1 },
      { reason: 'paid_exempt', count: 1 },
    ],
  })
})

test('uses the rate card of each day in the time zone of the account', async () => {
  await updateAccount(server.deps, account.accountId, { timeZone: 'Pacific/Kiritimati' })
  const midnight = Date.parse(dateOf(daysAgo(3)))
  const change = dateOf(new Date(midnight + 86_400_000))
  await importRows(`2026-01-01,EUR,Spain,ES,1,1`, `${change},EUR,Spain,ES,10,10`)
  // Kiritimati is 14 hours ahead of UTC, so its day begins at 10:00.
  now = new Date(midnight + 9.9 * 3_600_000)
  await deliver('34600111222')
  now = new Date(midnight + 10.1 * 3_600_000)
  await deliver('34600111222')
  now = today

  const { totals, rateCards } = await costs({ days: 7 })

  expect(totals.amount).toBe('11')
  expect(rateCards).toEqual(['2026-01-01', change])
  await removeRateCard(server.deps, '2026-01-01')
  expect((await costs({ days: 7 })).totals).toMatchObject({ amount: '10', unrated: 1 })
})

test.each(['2026-01-02', '2026-02-31'])('finds no rate card on %s to remove', async (date) => {
  await importRows('2026-01-01,EUR,Spain,ES,1,1')

  await expect(removeRateCard(server.deps, date)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await listRateCards(server.deps)).toHaveLength(1)
})

test('keeps prices when quarters of an hour are folded into days, and when a recipient is erased', async () => {
  const { db } = server.deps
  await importRows('2026-01-01,EUR,Spain,ES,1,2')
  now = daysAgo(40)
  await deliver('34600111222')
  now = today
  const before = await costs({ days: 90 })
  await foldCounts(db)
  await foldOldBuckets(db, new Date())

  expect(before.totals).toMatchObject({ billable: 1, amount: '2' })
  expect(await costs({ days: 90 })).toEqual(before)
  await sql`update messages set to_number = 'erased' where account_id = ${account.accountId}`.execute(db)
  await foldCounts(db)
  // Erasing the number also erased the country, and with it the rate.
  expect((await costs({ days: 90 })).totals).toEqual({ billable: 1, free: 0, unrated: 1, amount: '0' })
})

test('imports a file as a whole or not at all', async () => {
  const { deps } = server
  await importRows('2026-07-01,EUR,Spain,ES,1,2')
  const kept = await listRateCards(deps)

  await expect(importRows('2026-10-01,EUR,Spain,ES,1,2', '2026-10-01,EUR,Bad,ES,1,x')).rejects.toThrow(
    /nothing was imported:\n {2}line 3: the country "ES" already has rates .* in line 2\.\n {2}line 3: the rate "x"/,
  )
  await expect(importRows('2026-10-01,EUR,Spain,ES,1,2', '2026-07-01,EUR,Spain,ES,1,2')).rejects.toThrow(
    'There are already rates from 2026-07-01 on.',
  )
  await expect(importRows('2026-10-01,USD,Spain,ES,1,2')).rejects.toThrow(
    'The rate card from 2026-07-01 on is in EUR, and the file is in USD.',
  )
  expect(await listRateCards(deps)).toEqual(kept)
})

test('accepts one of two concurrent imports', async () => {
  const results = await Promise.allSettled([
    importRows('2026-07-01,EUR,Spain,ES,1,2'),
    importRows('2026-10-01,USD,Spain,ES,1,2'),
  ])

  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await listRateCards(server.deps)).toHaveLength(1)
})

async function preview(to: string): Promise<Record<string, unknown>> {
  return (await account.post('/api/v1/message/preview', { ...exampleSend, to })).json().data
}

test('shows in a preview what the message would cost', async () => {
  expect(await preview('34600111222')).not.toHaveProperty('costEstimate')
  await importRows('2026-01-01,EUR,Spain,ES,0.0509,0.0170')

  expect((await preview('34600111222'))['costEstimate']).toEqual({
    amount: '0.017',
    currency: 'EUR',
    category: 'utility',
    market: 'Spain',
    rateCardDate: '2026-01-01',
  })
  expect(await preview('254700111222')).not.toHaveProperty('costEstimate')
})

test.each([
  { who: 'New York', to: { to: '12125550100' }, market: 'North America' },
  { who: 'Toronto', to: { to: '14165550100' }, market: 'North America' },
  { who: 'San Juan', to: { to: '17875550100' }, market: 'Rest of Latin America' },
  { who: 'Santo Domingo', to: { to: '18095550100' }, market: 'Rest of Latin America' },
  { who: 'Kingston', to: { to: '18765550100' }, market: 'Rest of Latin America' },
  { who: 'a user ID of the United States', to: { recipient: 'US.2041776300912345' }, market: 'North America' },
  { who: 'a user ID of Spain', to: { recipient: 'ES.2041776300912345' }, market: 'Spain' },
  { who: 'a parent user ID of Spain', to: { recipient: 'ES.ENT.2041776300912345' }, market: 'Spain' },
])('estimates a message to $who at the rate of $market', async ({ to, market }) => {
  await importRows(
    '2026-01-01,USD,North America,US CA,0.025,0.0034',
    '2026-01-01,USD,Rest of Latin America,PR DO JM,0.074,0.0113',
    '2026-01-01,USD,Spain,ES,0.0615,0.02',
  )

  const response = await account.post('/api/v1/message/preview', { ...exampleSend, to: undefined, ...to })

  expect(response.json().data).toMatchObject({ costEstimate: { market } })
})

test('says the country of a number and estimates the cost of a message for members of the account only', async () => {
  const { accountId } = account
  const viewer = await signedInOwner(server, accountId, { role: 'viewer' })
  const input = { accountId, to: '34600111222', category: 'MARKETING' }
  expect((await viewer.query('cost.estimate', input)).data).toEqual({ hasRateCard: false, country: 'ES' })
  await importRows('2026-01-01,EUR,Spain,ES,0.0509,0.0170', '2199-01-01,EUR,Spain,ES,9,9')

  expect((await viewer.query('cost.estimate', input)).data).toMatchObject({
    hasRateCard: true,
    estimate: { amount: '0.0509', market: 'Spain', rateCardDate: '2026-01-01' },
  })
  expect((await viewer.query('cost.estimate', { ...input, to: '254700111222' })).data).toEqual({
    hasRateCard: true,
    country: 'KE',
  })
  expect((await viewer.query('cost.estimate', { ...input, category: undefined })).data).toEqual({
    hasRateCard: true,
    country: 'ES',
  })
  expect((await viewer.query('cost.estimate', { ...input, to: '600123456' })).data).toEqual({
    hasRateCard: true,
    isIncomplete: true,
  })
  expect((await viewer.query('cost.estimate', { ...input, to: '+34' })).statusCode).toBe(400)
  const { accountId: other } = await server.account()
  expect((await viewer.query('cost.estimate', { ...input, accountId: other })).statusCode).toBe(404)
})

test('keeps the counts of an earlier version, which have no prices', async () => {
  const { db } = server.deps
  await deliver('34600111222')
  await foldCounts(db)
  await deliver('34600111223')
  const { accountId } = account
  await sql`update messages set pricing = null where account_id = ${accountId}`.execute(db)
  await sql`delete from message_count_buckets where count = 0`.execute(db)
  for (const table of ['message_counts', 'message_count_buckets', 'message_count_deltas'])
    await sql`update ${sql.table(table)} set pricing = '' where account_id = ${accountId}`.execute(db)

  expect(await costs()).toMatchObject({ totals: { billable: 0 }, unpriced: 2 })
  const { rows } = await sql<{ id: string }>`
    select id from messages where account_id = ${account.accountId} and to_number = '34600111222'`.execute(db)
  // A repeated status adds the missing price.
  await report(server, account, [status('delivered', 'wamid.unknown', { callbackData: rows[0]?.id })])
  await foldCounts(db)
  expect(await costs()).toMatchObject({ totals: { billable: 1 }, unpriced: 1 })
})
