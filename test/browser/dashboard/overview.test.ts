import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import { abbreviateDay, stages } from '../../../src/dashboard/pages/overview/statistics.ts'
import { describeDay } from '../../../src/dashboard/ui/time.ts'
import { sendFirstMessage } from '../../../src/cli/sandbox-demo.ts'
import { getOverview } from '../../../src/messages/queries/overview.ts'
import { exampleSend } from '../../support/example-send.ts'
import type { TestAccount } from '../../support/server.ts'
import { report as reportAt, send, type Sent } from './sent-messages.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, useDashboard } from './support.ts'

const dashboard = useDashboard()
/** The time at which the test began: midnight may pass meanwhile. */
let today: number

beforeEach(() => {
  today = Date.now()
})

/** A UTC date. */
const daysAgo = (days: number) => new Date(today - days * 86_400_000).toISOString().slice(0, 10)

/** The simulator rejects this number with error 131026. */
async function sendRejected(account: TestAccount): Promise<void> {
  const response = await account.post('/api/v1/message/send', { ...exampleSend, to: '15550131026' })
  expect(response.json().success).toBe(false)
}

/** `seconds` after the message was sent. */
async function report(
  message: Sent,
  status: Exclude<MessageStatus, 'pending'>,
  seconds = 0,
  code?: string,
): Promise<void> {
  const { db } = dashboard.server.deps
  const sent = db.selectFrom('messages').select('sent_at as at').where('id', '=', message.messageId)
  const at = new Date(Number((await sent.executeTakeFirstOrThrow()).at) + seconds * 1000)
  const error = code === undefined ? undefined : { code, message: 'Failed' }
  await reportAt(dashboard.server, message, status, error, at)
}

/** Four sent messages: one read, one delivered, one failed, one unchanged. Two more are rejected. */
async function seedMessages(account: TestAccount): Promise<void> {
  const [read, delivered, failed] = [await send(account), await send(account), await send(account)]
  await send(account)
  await sendRejected(account)
  await sendRejected(account)
  await report(read, 'delivered', 7)
  await report(read, 'read', 60)
  await report(delivered, 'delivered', 120)
  await report(failed, 'failed', 0, '131049')
}

const chartOf = (page: Page) => page.getByRole('img', { name: /^Messages by day/ })
const bars = '.recharts-bar-rectangle path'

/** The number and the share of each key figure by name. */
async function readFigures(page: Page): Promise<Record<string, string[]>> {
  const cards = await page.locator('dl > div').all()
  const pairs = cards.map(async (card) => [
    await card.locator('dt').textContent(),
    (await card.locator('dd').allTextContents()).slice(0, 2),
  ])
  return Object.fromEntries(await Promise.all(pairs))
}

/** The cells of the rows below the header. */
async function readTable(page: Page, name: string): Promise<string[][]> {
  const rows = await page.getByRole('table', { name }).getByRole('row').all()
  return Promise.all(rows.slice(1).map((row) => row.locator('th, td').allTextContents()))
}

test('opens an account with its message statistics', async () => {
  const { page, open, account } = await dashboard.signedIn({ role: 'viewer' })
  await seedMessages(account)
  await open('')
  await page.locator(bars).first().waitFor()

  expect(new URL(page.url()).pathname).toBe(`/settings/${account.accountId}/overview`)
  expect(await readFigures(page)).toEqual({
    Attempted: ['6', '0.2 per day'],
    Accepted: ['4', '66.7% of attempted'],
    Delivered: ['2', '33.3% of attempted'],
    Read: ['1', '50.0% of delivered'],
    Rejected: ['2', '33.3% of attempted'],
    Undelivered: ['1', '16.7% of attempted'],
  })
  const label = await chartOf(page).getAttribute('aria-label')
  expect(label).toContain('over 30 days: 6 attempted, 4 accepted, 2 delivered, 1 read, 2 rejected, 1 undelivered')
})

test('shows the chart as a table on request', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  await page.locator(bars).first().waitFor()
  const { days } = await getOverview(dashboard.server.deps, { accountId: account.accountId, days: 30 })
  const expected = days
    .toReversed()
    .map(({ date, ...counts }) => [describeDay(date), ...stages.map((stage) => String(counts[stage]))])
  expect(expected[0]?.slice(1)).toEqual(['6', '4', '2', '1', '2', '1'])

  expect(await readTable(page, 'Messages by day, in UTC')).toEqual(expected)
  await page.getByRole('button', { name: 'Show as table' }).click()

  await page
    .getByRole('group', { name: 'Messages by day' })
    .getByText(expected[0]?.[0] ?? '')
    .waitFor()
  expect(await chartOf(page).count()).toBe(0)
  expect(await readTable(page, 'Messages by day, in UTC')).toEqual(expected)
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('shows the counts of a day on hover', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  const bar = page.locator(bars).first()
  await bar.hover()

  await chartOf(page)
    .getByText(/^\w+ \d+, \d{4}$/)
    .waitFor()
})

test('counts failures by reason and links to the messages', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  const reasons = page.getByRole('list', { name: 'Reasons' }).getByRole('listitem')
  await reasons.first().waitFor()

  const shown = await reasons.allTextContents()
  expect(shown).toHaveLength(2)
  expect(shown[0]).toMatch(
    /^The message cannot reach this recipient\.2 · 66\.7%WhatsApp error 131026 · 2 rejectedThe recipient may not use WhatsApp /,
  )
  expect(shown[1]).toMatch(
    /^WhatsApp withheld this message, because the recipient gets many from businesses\.1 · 33\.3%WhatsApp error 131049 · 1 undeliveredDo not /,
  )
  await reasons.first().getByRole('link').click()

  await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    errorCode: '131026',
    range: 'custom',
    from: `${daysAgo(29)}T00:00:00.000Z`,
  })
  // As many as the overview counted, each with the reason.
  await page.getByText('2 messages', { exact: true }).waitFor()
  const rows = page.getByRole('row').filter({ hasText: 'order_shipped' })
  expect(await rows.filter({ hasText: '131026' }).count()).toBe(2)
  expect(await rows.count()).toBe(2)
})

test('ends a bar at the number of attempted messages', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  await page.locator(bars).first().waitFor()
  const sizes = await Promise.all((await page.locator(bars).all()).map((bar) => bar.getAttribute('height')))
  const lines = await chartOf(page).locator('.recharts-cartesian-grid-horizontal line').all()
  const places = await Promise.all(lines.map(async (line) => Number(await line.getAttribute('y1'))))

  // The axis goes from 0 to 6 in steps of 2.
  const unit = (Math.max(...places) - Math.min(...places)) / 6
  const total = sizes.reduce((sum, size) => sum + Number(size), 0)
  expect(total / unit).toBeCloseTo(6, 0)
})

test('counts a message that is read first as delivered by then', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const [delivered, read] = [await send(account), await send(account)]
  await report(delivered, 'delivered', 7)
  // WhatsApp can report a message as read without reporting its delivery.
  await report(read, 'read', 7)
  await openOfAccount('overview')

  await page.getByText('100.0% delivered within 10 seconds.').waitFor()
  expect(await page.getByText('WhatsApp reported the delivery time of').count()).toBe(0)
})

test('shows delivery times by bucket', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  await page.getByText('50.0% delivered within 10 seconds.').waitFor()

  const steps = (await readTable(page, 'Delivery time')).map(([label, , count, share]) => [label, count, share])
  expect(steps.filter(([, count]) => count !== '0')).toEqual([
    ['5 to 10 s', '1', '50.0%'],
    ['1 to 5 min', '1', '50.0%'],
  ])
})

test('shows a first message and its status changes without a reload', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const message = await send(account)
  await openOfAccount('overview')
  const latest = page.getByRole('list', { name: 'Latest messages' }).getByRole('listitem')
  await latest.getByText('Sent').waitFor()
  await page.locator(bars).first().waitFor()
  // Without deliveries, there is no delivery rate.
  expect(await readFigures(page)).toMatchObject({
    Accepted: ['1', '100.0% of attempted'],
    Delivered: ['0', '0.0% of attempted'],
    Read: ['0', '– of delivered'],
  })
  expect(await page.locator(bars).count()).toBe(1)
  expect(await latest.count()).toBe(1)

  await report(message, 'delivered', 1)

  await expect.poll(() => readFigures(page)).toMatchObject({ Delivered: ['1', '100.0% of attempted'] })
  await latest.getByText('Delivered').waitFor()
  await latest.getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: /^Message to/ }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/settings/${account.accountId}/messages/${message.messageId}`)
})

test('shows only the five latest messages', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  for (let count = 1; count <= 6; count++) await send(account)
  await openOfAccount('overview')
  const latest = page.getByRole('list', { name: 'Latest messages' }).getByRole('listitem')
  await latest.first().waitFor()

  expect(await latest.count()).toBe(5)
  const period = new URLSearchParams({ range: 'custom', from: `${daysAgo(6)}T00:00:00.000Z` })
  const link = page.getByRole('link', { name: 'Messages of this period' })
  await page.getByText('7 days').click()
  await expect.poll(() => link.getAttribute('href')).toContain(String(period))
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
})

test('shows costs and failures before the next steps, of which the message of the sandbox is none', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await sendFirstMessage(dashboard.server.deps, account.accountId)
  await openOfAccount('overview')
  const nextSteps = page.getByRole('region', { name: 'Next steps' })
  await nextSteps.getByText('Send your first message').waitFor()
  expect(await nextSteps.getByRole('listitem').count()).toBe(2)
  const places = ['Billable messages', 'Failure reasons', 'Next steps', 'Messages by day'].map(async (name) => {
    const box = await page.getByRole('region', { name, exact: true }).boundingBox()
    return box?.y ?? 0
  })
  const [costs = 0, failures = 0, steps = 0, days = 0] = await Promise.all(places)
  expect(days).toBeLessThan(Math.min(costs, failures))
  expect(Math.max(costs, failures)).toBeLessThan(steps)

  await send(account)
  await page.reload()

  await nextSteps.getByText('Receive statuses').waitFor()
  expect(await nextSteps.getByRole('listitem').count()).toBe(1)
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('changes the period by keyboard and keeps it on reload', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account)
  await openOfAccount('overview')
  const table = page.getByRole('table', { name: 'Messages by day, in UTC' })
  const week = page.getByRole('radio', { name: '7 days' })
  await sql`
    insert into message_counts (account_id, day, status, accepted, error_code, delivery_seconds, count)
    values (${account.accountId}, (now() at time zone 'UTC')::date - 100, 'sent', true, '', -1, 1)`.execute(
    dashboard.server.deps.db,
  )
  await expect.poll(() => table.getByRole('row').count()).toBe(31)
  await page.getByRole('radio', { name: '30 days' }).focus()

  await page.keyboard.press('ArrowLeft')

  await expect.poll(() => table.getByRole('row').count()).toBe(8)
  expect(new URL(page.url()).search).toBe('?days=7')
  expect(await week.evaluate((radio) => radio === radio.ownerDocument.activeElement)).toBe(true)
  await page.reload()
  await expect.poll(() => table.getByRole('row').count()).toBe(8)
  expect(await week.isChecked()).toBe(true)
  await page.getByText('90 days').click()
  await expect.poll(() => table.getByRole('row').count()).toBe(91)
})

test('shows the change against the previous period in words', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  const count = (ago: number, status: MessageStatus, accepted: boolean, of: number) =>
    sql`
    insert into message_counts (account_id, day, status, accepted, error_code, delivery_seconds, count)
    values (${account.accountId}, (now() at time zone 'UTC')::date - ${ago}::integer, ${status}, ${accepted}, '', -1, ${of})
    on conflict do nothing`.execute(dashboard.server.deps.db)
  const changes = async () => {
    const cards = await page.locator('dl > div').all()
    return Promise.all(cards.map((card) => card.locator('dd').last().textContent()))
  }
  await openOfAccount('overview?days=7')
  await page.getByText(/\. No earlier period to compare with\.$/).waitFor()
  expect(await page.locator('dl > div dd[data-tone]').count()).toBe(0)

  await count(60, 'sent', true, 1)
  await page.reload()
  await expect.poll(changes).toEqual(Array.from({ length: 6 }, () => 'None before'))

  // Of 100 attempted, 80 delivered, 40 read and 20 undelivered.
  await count(8, 'delivered', true, 40)
  await count(8, 'read', true, 40)
  await count(8, 'failed', true, 20)
  await page.reload()
  await expect
    .poll(changes)
    .toEqual([
      'Down 94.0% from 100',
      'Down 33.3 points from 100.0%',
      'Down 46.7 points from 80.0%',
      'No change',
      'Up 33.3 points from 0.0%',
      'Down 3.3 points from 20.0%',
    ])
  const tones = await Promise.all(
    (await page.locator('dl > div dd:last-of-type').all()).map((change) => change.getAttribute('data-tone')),
  )
  // A small difference between few messages is not significant.
  expect(tones).toEqual(['neutral', 'bad', 'bad', 'neutral', 'bad', 'neutral'])
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test.each(['en-US', 'es-MX'])('fits the figures into their tiles at every width in %s', async (language) => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await page.addInitScript(`Object.defineProperty(navigator, 'languages', { get: () => ['${language}'] })`)
  const count = (ago: number, status: MessageStatus, accepted: boolean, of: number) =>
    sql`
    insert into message_counts (account_id, day, status, accepted, error_code, delivery_seconds, count)
    values (${account.accountId}, (now() at time zone 'UTC')::date - ${ago}::integer, ${status}, ${accepted}, '', -1, ${of})`.execute(
      dashboard.server.deps.db,
    )
  await count(60, 'sent', true, 1)
  for (const [ago, factor] of [
    [9, 12_345],
    [2, 6_789],
  ] as const) {
    await count(ago, 'read', true, factor * 48)
    await count(ago, 'delivered', true, factor * ago)
    await count(ago, 'failed', true, 41 * factor - 2000 * ago)
    await count(ago, 'failed', false, 1000 * ago + 7)
  }
  await openOfAccount('overview?days=7')
  await page.locator('dl > div dd[data-tone]').first().waitFor()

  for (const width of [360, 390, 480, 768, 1024, 1200, 1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    await expect.poll(() => page.evaluate<string[]>(findOverflowing), { message: `at ${width} px` }).toEqual([])
  }
  const arrows = page.locator('dl > div dd[data-tone] svg')
  expect(await arrows.count()).toBe(6)
  for (const arrow of await arrows.all()) expect((await arrow.boundingBox())?.width).toBe(14)
})

/** The texts of tiles that reach into the padding of their tile. */
const findOverflowing = `[...document.querySelectorAll('dl > div')].flatMap((tile) => {
  const { left, right } = tile.getBoundingClientRect()
  const padding = parseFloat(getComputedStyle(tile).paddingLeft)
  return [...tile.querySelectorAll('dt, dd')]
    .filter((text) => {
      const range = document.createRange()
      range.selectNodeContents(text)
      return [...range.getClientRects()].some((rect) => rect.left < left + padding - 1 || rect.right > right - padding + 1)
    })
    .map((text) => text.textContent)
})`

const range = (days: number, until: number) => `${abbreviateDay(daysAgo(days))} – ${describeDay(daysAgo(until))}`

test('compares any two periods, which are kept on reload', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  const fields = (name: string) => page.getByRole('group', { name }).locator('input')
  await page.getByRole('button', { name: 'Dates' }).click()
  await fields('Period').first().fill(daysAgo(2))
  await fields('Period').last().fill(daysAgo(3))
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('The last day is before the first.').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await fields('Period').last().fill(daysAgo(0))
  await fields('Compare with').first().fill(daysAgo(9))
  await fields('Compare with').last().fill(daysAgo(5))
  await page.getByRole('button', { name: 'Apply' }).click()

  const description = page.getByText(`${range(2, 0)}, compared with ${range(9, 5)}`)
  await description.waitFor()
  // One control shows the dates, and no preset is selected.
  expect(await page.getByRole('button', { name: /^Dates/ }).allTextContents()).toEqual([range(2, 0)])
  expect(await page.getByRole('radio', { name: 'Dates' }).count()).toBe(0)
  expect(await page.getByRole('radio', { checked: true, name: /days|hours/ }).count()).toBe(0)
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    from: daysAgo(2),
    until: daysAgo(0),
    compareFrom: daysAgo(9),
    compareUntil: daysAgo(5),
  })
  await page.reload()
  await description.waitFor()
  await page.getByText('7 days').click()
  await expect.poll(() => new URL(page.url()).search).toBe('?days=7')
})

test('fills in the shown dates once they have loaded', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  const loading = Promise.withResolvers<void>()
  await page.route(/settings\.overview\.get/, async (route) => {
    await loading.promise
    await route.continue()
  })
  await openOfAccount('overview?days=7')
  await page.getByRole('button', { name: 'Dates' }).click()
  const from = page.getByRole('group', { name: 'Period' }).locator('input').first()
  expect(await from.inputValue()).toBe('')

  loading.resolve()

  await expect.poll(() => from.inputValue()).toBe(daysAgo(6))
})

test('shows this month, last week and last month, and keeps them on reload', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  await page.getByRole('button', { name: 'Dates' }).click()
  await page.getByRole('button', { name: 'This month' }).click()
  await page.getByRole('button', { name: 'Dates: This month' }).waitFor()
  await expect.poll(async () => (await readFigures(page))['Attempted']?.[0]).toBe('6')
  const { days } = await getOverview(dashboard.server.deps, {
    accountId: account.accountId,
    days: 30,
    calendar: 'previousWeek',
  })

  await page.getByRole('button', { name: 'Dates: This month' }).click()
  await page.getByRole('button', { name: 'Last week' }).click()
  const [first, last] = [days[0]?.date ?? '', days.at(-1)?.date ?? '']
  await page.getByText(new RegExp(`^${abbreviateDay(first)} – ${describeDay(last)}`)).waitFor()
  expect(new URL(page.url()).search).toBe('?calendar=previousWeek')
  await page.reload()
  await page.getByRole('button', { name: 'Dates: Last week' }).click()
  await page.getByRole('button', { name: 'Last month' }).click()
  await page.getByRole('button', { name: 'Dates: Last month' }).waitFor()
  expect(new URL(page.url()).search).toBe('?calendar=previousMonth')
  expect(await findAccessibilityViolations(page)).toEqual([])
  await page.getByText('7 days').click()
  await page.getByRole('button', { name: 'Dates', exact: true }).waitFor()
})

test('shows the last 24 hours by hour', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  await page.getByText('24 hours', { exact: true }).click()

  const rows = page.getByRole('table', { name: 'Messages by hour, in UTC' }).getByRole('row')
  await expect.poll(() => rows.count()).toBe(25)
  expect(new URL(page.url()).search).toBe('?hours=24')
  expect((await readFigures(page))['Attempted']?.[0]).toBe('6')
})

test('shows both hours of the same name when the clocks go back, and no row of them afterwards', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await page.route(/overview\.get/, async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const { days, unit } = body.result.data
    if (unit === 'hour') Object.assign(days[10], { date: days[9].date, time: days[9].time })
    await route.fulfill({ response, json: body })
  })
  await openOfAccount('overview?hours=24')
  const rows = page.getByRole('table', { name: /^Messages by (hour|day)/ }).getByRole('row')
  await expect.poll(() => rows.count()).toBe(1 + 24)

  await page.getByText('7 days', { exact: true }).click()

  await expect.poll(() => rows.count()).toBe(1 + 7)
})

test('shows the breakdown and no hole beside failure reasons at every width', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account)
  await openOfAccount('overview')
  for (const width of [390, 768, 1024, 1200, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    const name = page.getByRole('table', { name: 'Messages by template' }).getByRole('rowheader').first()
    await expect.poll(async () => (await name.boundingBox())?.width, { message: String(width) }).toBeGreaterThan(100)
  }
  const [failures, breakdown] = await Promise.all(
    ['Failure reasons', 'Breakdown'].map((title) => page.getByRole('region', { name: title }).boundingBox()),
  )
  expect((breakdown?.y ?? NaN) - (failures?.y ?? NaN) - (failures?.height ?? NaN)).toBeLessThan(50)
})

test('breaks messages down by template, number and country', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await account.trpc.message.send.mutate({ to: '4915112345678', template: 'hello_world', language: 'en_US' })
  await dashboard.server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ display_phone_number: '+34 911 23 45 67' })
    .where('id', '=', account.whatsAppAccountId)
    .execute()
  await openOfAccount('overview')
  await page.getByRole('table', { name: 'Messages by template' }).waitFor()
  expect(await readTable(page, 'Messages by template')).toEqual([
    ['order_shipped', '6', '33.3%', '50.0%', '3 50.0%'],
    ['hello_world', '1', '0.0%', '–', '0 0.0%'],
  ])

  await page.getByText('Country', { exact: true }).click()
  expect(await readTable(page, 'Messages by country')).toEqual([
    ['Spain', '4', '50.0%', '50.0%', '1 25.0%'],
    ['United States', '2', '0.0%', '–', '2 100.0%'],
    ['Germany', '1', '0.0%', '–', '0 0.0%'],
  ])
  await page.getByRole('link', { name: 'Spain', exact: true }).click()
  await page.getByRole('group', { name: 'Active filters' }).getByText('Country: Spain').waitFor()
  await page.getByText('4 messages', { exact: true }).waitFor()
  await page.goBack()
  await page.getByText('Number', { exact: true }).click()
  expect(await readTable(page, 'Messages by number')).toEqual([['+34911234567', '7', '28.6%', '50.0%', '3 42.9%']])
  expect(await findAccessibilityViolations(page)).toEqual([])

  await page.getByText('Template', { exact: true }).click()
  await page.getByRole('link', { name: 'hello_world' }).click()
  await page.getByText('1 message', { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('template')).toBe('hello_world')
})

test('sorts the breakdown by failed messages and links to them', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account)
  await send(account)
  await send(account)
  const hello = { to: '15550131026', template: 'hello_world', language: 'en_US' }
  for (let count = 1; count <= 2; count++) await account.post('/api/v1/message/send', hello)
  await openOfAccount('overview?days=7')
  const table = page.getByRole('table', { name: 'Messages by template' })
  await table.waitFor()
  const names = async () => (await readTable(page, 'Messages by template')).map(([name]) => name)
  expect(await names()).toEqual(['order_shipped', 'hello_world'])

  await table.getByRole('button', { name: 'Failed' }).click()
  expect(await names()).toEqual(['hello_world', 'order_shipped'])
  expect(await table.getByRole('columnheader', { name: 'Failed' }).getAttribute('aria-sort')).toBe('descending')
  await table.getByRole('link', { name: '2 failed messages: hello_world' }).click()
  await page.getByText('2 messages', { exact: true }).waitFor()
  const { status, template, range } = Object.fromEntries(new URL(page.url()).searchParams)
  expect([status, template, range]).toEqual(['failed', 'hello_world', 'custom'])

  await page.goBack()
  await page.getByText('Number', { exact: true }).click()
  await page
    .getByRole('table', { name: 'Messages by number' })
    .getByRole('link', { name: /^2 failed messages/ })
    .click()
  await page.getByText('2 messages', { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('whatsAppAccountId')).toBe(account.whatsAppAccountId)
})

test('links the figures of failed messages to those messages', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await seedMessages(account)
  await openOfAccount('overview')
  for (const [name, chip, count] of [
    ['2 Rejected', 'Status: Failed: rejected', '2 messages'],
    ['1 Undelivered', 'Status: Failed: undelivered', '1 message'],
  ] as const) {
    await page.getByRole('link', { name }).click()
    await page.getByRole('group', { name: 'Active filters' }).getByText(chip).waitFor()
    await page.getByText(count, { exact: true }).waitFor()
    await page.goBack()
  }
})

test('lists what needs attention, and confirms once everything is fixed', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account)
  const { db } = dashboard.server.deps
  await openOfAccount('overview')

  const section = page.getByRole('region', { name: 'Needs attention' })
  await section.getByRole('link', { name: /^The setup of .* is incomplete\. Next step:/ }).waitFor()
  await page.getByRole('link', { name: 'WhatsApp accounts needs attention' }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await section.getByRole('link', { name: 'The template spring_sale (en) cannot be sent.' }).click()
  await page.getByRole('dialog').getByText('Paused for low quality').first().waitFor()

  await db.deleteFrom('templates').where('account_id', '=', account.accountId).where('status', '=', 'PAUSED').execute()
  await db
    .updateTable('whatsapp_account_health')
    .set({ subscribed: true, number_status: 'CONNECTED', last_callback_at: new Date(), last_status_at: new Date() })
    .where('account_id', '=', account.accountId)
    .execute()
  await openOfAccount('overview')
  await page.getByText('Everything is in order.').waitFor()
  expect(await section.count()).toBe(0)
  expect(await page.getByRole('link', { name: /needs attention/ }).count()).toBe(0)
})

test('lets an owner change the time zone of days', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account)
  await openOfAccount('overview')
  await page.getByRole('button', { name: 'Change time zone' }).click()
  const dialog = page.getByRole('dialog', { name: 'Time zone' })
  const zone = dialog.getByRole('combobox', { name: 'Time zone' })
  await zone.fill('Mars/Olympus')
  await page.getByText('No time zone found.').waitFor()
  await zone.fill('tenerife')
  await page.getByRole('option', { name: 'Atlantic/Canary' }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await zone.fill('Auckland')
  await page.getByRole('option', { name: 'Pacific/Auckland' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()

  await page.getByText('in Pacific/Auckland.', { exact: false }).first().waitFor()
  await page.getByRole('table', { name: 'Messages by day, in Pacific/Auckland' }).waitFor({ state: 'attached' })
  // A separate line shows the time zone of lists, which is another setting.
  const change = await page.getByRole('button', { name: 'Change time zone' }).boundingBox()
  const lists = await page.getByText(/^Other pages show times in the time zone of your computer/).boundingBox()
  expect(lists?.y).toBeGreaterThanOrEqual((change?.y ?? 0) + (change?.height ?? 0) - 4)
})

test('shows viewers the time zone without a way to change it', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  await send(account)
  await openOfAccount('overview')

  await page.getByText('By the time they were recorded, in UTC.').waitFor()
  expect(await page.getByRole('button', { name: 'Change time zone' }).count()).toBe(0)
})

test('shows a new account where to start', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('overview')
  await page.getByText('Send your first message').waitFor()
  expect(await page.getByRole('radiogroup').count()).toBe(0)
  expect(await findAccessibilityViolations(page)).toEqual([])

  await page.getByRole('link', { name: 'Open Public API' }).click()

  await page.getByRole('heading', { level: 1, name: 'Public API' }).waitFor()
})

test('shows no figures of a new account before its messages have loaded', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  await page.route(/settings\.message\.list/, async (route) => {
    await held
    await route.continue()
  })
  const others = ['overview.get', 'alert.list', 'template.problems', 'whatsAppAccount.health'].map((name) =>
    page.waitForResponse((response) => response.url().includes(`settings.${name}`)),
  )
  await openOfAccount('overview')
  for (const other of await Promise.all(others)) await other.finished()
  await page.evaluate('new Promise(requestAnimationFrame)')
  expect(await page.getByRole('region', { name: 'Messages by day' }).count()).toBe(0)

  release()

  await page.getByText('Send your first message').waitFor()
})

test('reports a failed request and retries it', async () => {
  const { page, context, openOfAccount, account } = await dashboard.signedIn()
  await send(account)
  await context.route('**/settings.overview.get*', (route) => route.fulfill({ status: 404, body: 'not ours' }))
  await openOfAccount('overview')
  const alert = page.getByRole('alert')
  await alert.waitFor()
  await context.unroute('**/settings.overview.get*')

  await alert.getByRole('button', { name: 'Try again' }).click()

  await page.locator(bars).first().waitFor()
  expect(await alert.count()).toBe(0)
})

test('loads the chart library only on pages with a chart, and the form for the time zone only when it is opened', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account)
  const requestedUrls: string[] = []
  page.on('request', (request) => requestedUrls.push(request.url()))
  await openOfAccount('messages')
  await page.getByRole('link', { name: '+34600111222' }).waitFor()
  expect(requestedUrls.filter((url) => url.includes('chart'))).toEqual([])

  await page.getByRole('link', { name: 'Overview' }).click()

  await page.locator(bars).first().waitFor()
  expect(requestedUrls.filter((url) => url.includes('chart'))).not.toEqual([])
  const form = () => requestedUrls.filter((url) => /time-zone/.test(url))
  await page.getByRole('button', { name: 'Change time zone' }).waitFor()
  expect(form()).toEqual([])
  await page.getByRole('button', { name: 'Change time zone' }).click()
  await page.getByRole('dialog', { name: 'Time zone' }).waitFor()
  expect(form()).not.toEqual([])
})

test.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('the overview is accessible at $width px', async (viewport) => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport })
  await seedMessages(account)
  await openOfAccount('overview?days=90')
  await page.locator(bars).first().waitFor()

  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0)
})
