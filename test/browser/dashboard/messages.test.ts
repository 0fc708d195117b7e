import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MessageStatus } from '../../../contracts/api/message.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { applyStatuses } from '../../../src/messages/status/apply-statuses.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { post } from '../../support/callbacks.ts'
import { exampleSend } from '../../support/example-send.ts'
import { repliesCallback, replyTime, tap, text, userMessage } from '../../support/replies.ts'
import type { TestAccount } from '../../support/server.ts'
import { accept, respond, type WebhookReceiver } from '../../support/webhook-receiver.ts'
import { type Deliveries, startDeliveries } from './deliveries.ts'
import { type DashboardBrowser, findAccessibilityViolations, type SignedInVisit } from './support.ts'

let deliveries: Deliveries
let dashboard: DashboardBrowser
let receiver: WebhookReceiver

beforeAll(async () => {
  deliveries = await startDeliveries()
  ;({ dashboard, receiver } = deliveries)
})

afterAll(() => deliveries?.close())

interface Sent {
  accountId: string
  messageId: string
  waMessageId: string
}

async function send({ accountId, trpc }: TestAccount, externalId: string, to = '34600111222'): Promise<Sent> {
  const sent = await trpc.message.send.mutate({
    to,
    template: 'order_shipped',
    language: 'en',
    variables: { '1': 'Ada', '2': 'WB-1042' },
    externalId,
  })
  return { accountId, messageId: sent.messageId, waMessageId: sent.waMessageId }
}

async function report(
  message: Sent,
  status: Exclude<MessageStatus, 'pending'>,
  error?: { code: string; message: string },
) {
  const { waMessageId } = message
  await applyStatuses(dashboard.server.deps, [{ ...message, report: { waMessageId, status, at: new Date(), error } }])
}

/** The messages beside an open one on a screen too narrow for columns. */
const listBeside = (page: Page) => page.getByRole('list', { name: 'Messages' }).getByRole('listitem')

test('updates the timeline of an open message', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  const message = await send(account, 'order-1')
  await openOfAccount('messages')
  await page
    .getByRole('row', { name: /order-1/ })
    .getByText('Sent')
    .waitFor()
  await page.getByRole('link', { name: '+34600111222' }).click()
  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.waitFor()
  const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem')
  expect(await steps.filter({ hasText: /has not .* yet/ }).count()).toBe(2)

  await report(message, 'delivered')
  await steps.filter({ hasText: 'Delivered' }).getByRole('time').waitFor()
  expect(await steps.filter({ hasText: /has not .* yet/ }).count()).toBe(1)

  await report(message, 'read')
  await steps.filter({ hasText: 'The recipient read the message' }).getByRole('time').waitFor()
  expect(await steps.filter({ hasText: /has not .* yet/ }).count()).toBe(0)

  // The list beside the panel refreshes too.
  await listBeside(page).getByText('Read').waitFor()
  expect(pageErrors).toEqual([])
})

test('explains a failed message and retries its webhook', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  receiver.behave(respond(500), '/broken?token=hush')
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/broken?token=hush` })
  const message = await send(account, 'order-1')
  await report(message, 'failed', { code: '131026', message: 'Message undeliverable' })

  await openOfAccount(`messages/${message.messageId}`)
  const alert = page.getByRole('alert').filter({ hasText: 'The message cannot reach this recipient.' })
  await alert.waitFor()
  expect(await alert.textContent()).toMatch(/Check the number.*error 131026: Message undeliverable/)
  await page.getByRole('button', { name: /^message.failed.*1 attempt/ }).click()
  await page.getByText('HTTP 500').last().waitFor()
  expect(await page.getByRole('region', { name: 'Start of the response' }).textContent()).toBe('answer 500')
  expect(await page.content()).not.toContain('hush')

  receiver.behave(accept, '/broken?token=hush')
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('HTTP 200').last().waitFor()
  await page.getByRole('link', { name: 'View endpoint' }).click()
  await page.getByRole('heading', { level: 1, name: new URL(receiver.url).host }).waitFor()
  expect(pageErrors).toEqual([])
})

test('shows how to fix a failure before the actions, and the age of new messages only', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const message = await send(account, 'order-1')
  const { messageId } = message
  await report(message, 'failed', { code: '131026', message: 'Message undeliverable' })
  await openOfAccount(`messages?message=${messageId}`)
  const panel = page.getByRole('region', { name: /^\+34/ })
  const advice = await panel.getByRole('alert').boundingBox()
  const actions = await panel.getByRole('button', { name: 'Send again' }).boundingBox()
  expect((advice?.y ?? 0) + (advice?.height ?? 0)).toBeLessThanOrEqual(actions?.y ?? 0)
  expect(await panel.getByText('just now').count()).toBe(1)

  const dayOld = new Date(Date.now() - 25 * 3_600_000)
  await dashboard.server.deps.db
    .updateTable('messages')
    .set({ created_at: dayOld })
    .where('id', '=', messageId)
    .execute()
  await page.reload()
  await panel.getByRole('alert').waitFor()
  const head = panel.getByText(dayOld.toLocaleString('en-US', { month: 'short', day: 'numeric' })).first()
  expect(await head.textContent()).not.toContain('·')
})

test('sums up why messages failed, and filters by a reason', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  for (const index of [1, 2, 3])
    await report(await send(account, `order-${index}`), 'failed', {
      code: index === 3 ? '131049' : '131026',
      message: 'Failed',
    })
  await send(account, 'order-4')
  await openOfAccount('messages')
  await page.getByText('4 messages', { exact: true }).waitFor()
  const reasons = page.getByRole('region', { name: 'Failure reasons' })
  expect(await reasons.count()).toBe(0)

  await page.getByLabel('Status').selectOption('Failed')
  await reasons.waitFor()
  expect(await reasons.getByRole('listitem').allTextContents()).toEqual([
    '2The message cannot reach this recipient. 131026',
    '1WhatsApp withheld this message, because the recipient gets many from businesses. 131049',
  ])
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await reasons.getByText(/^131049$/).evaluate((code) => code.getClientRects().length)).toBe(1)
  await page.setViewportSize({ width: 1280, height: 800 })
  await reasons.getByRole('button', { name: /131049/ }).click()
  await page.getByText('1 message', { exact: true }).waitFor()
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ status: 'failed', errorCode: '131049' })
  expect(await findAccessibilityViolations(page)).toEqual([])
  await reasons.getByRole('button', { name: /131049/, pressed: true }).click()
  await page.getByText('3 messages', { exact: true }).waitFor()
  expect(pageErrors).toEqual([])
})

test('filters by the sending number, in views and exports too', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await openOfAccount('messages')
  await page.getByText('1 message', { exact: true }).waitFor()
  // All messages are from the only number.
  expect(await page.getByLabel('Sent from').count()).toBe(0)

  const second = await account.addWhatsAppAccount({ phoneNumberId: '190000000000778' })
  await account.trpc.message.send.mutate({ ...exampleSend, accountId: second, externalId: 'order-2' })
  await page.reload()
  const numbers = page.getByLabel('Sent from')
  await numbers.selectOption(second)
  await page.getByText('1 message', { exact: true }).waitFor()
  expect(await page.getByRole('row', { name: /order-2/ }).count()).toBe(1)
  const chips = page.getByRole('group', { name: 'Active filters' })
  const number = await numbers.locator('option:checked').textContent()
  expect(await chips.innerText()).toContain(`Sent from: ${number}`)

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain('order-2')

  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('menuitem', { name: 'Save current filters' }).click()
  await page.getByLabel('Name').fill('Second number')
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByText('View saved.').waitFor()
  await openOfAccount('messages')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('menuitem', { name: 'Second number' }).click()
  await chips.getByText(/^Sent from/).waitFor()
  expect(new URL(page.url()).search).toBe(`?whatsAppAccountId=${second}`)
  expect(pageErrors).toEqual([])
})

const isCut = (cell: Locator) => cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)

test.each([1280, 1440, 1920])('shows important cells in full at %i px, also beside a message', async (width) => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn({ viewport: { width, height: 900 } })
  const message = await send(account, 'order-1', '498888888888888')
  await report(message, 'failed', { code: '131026', message: 'Message undeliverable' })
  await openOfAccount('messages?search=order')
  const row = page.getByRole('row', { name: /498888888888888/ })
  await row.waitFor()
  expect(await isCut(row.getByRole('cell').nth(0))).toBe(false)
  expect(await isCut(row.getByRole('cell').nth(1))).toBe(false)
  expect(await row.getByTitle(/The message cannot reach this recipient\.\n131026 /).count()).toBe(1)

  await page.getByRole('link', { name: '+498888888888888' }).click()
  await page.getByRole('region', { name: '+498888888888888' }).waitFor()
  // On a screen too narrow for columns, the log is a list beside the message.
  const shown = width < 1700 ? listBeside(page) : row
  for (const text of ['+498888888888888', 'order_shipped', /The message cannot reach this recipient\./, /order-1/])
    await shown.getByText(text).filter({ visible: true }).first().waitFor()
  expect(await shown.getByRole('time').evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(
    false,
  )
  expect(pageErrors).toEqual([])
})

test.each([1024, 1440])('shows the longest reason in full at %i px', async (width) => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn({ viewport: { width, height: 900 } })
  const message = await send(account, 'order-1', '498888888888888')
  await report(message, 'failed', { code: '130472', message: "User's number is part of an experiment" })
  await openOfAccount('messages?search=order')
  const log = width < 1200 ? listBeside(page) : page.getByRole('table')
  const reason = log.getByText(/part of an experiment by Meta with this recipient\.$/)
  await reason.waitFor()

  expect(await isCut(reason)).toBe(false)
  expect(await reason.evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)).toBe(false)
  expect(pageErrors).toEqual([])
})

test('keeps the opened message visible when the table becomes a list', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  for (let index = 1; index <= 20; index++) await send(account, `order-${index}`, `3460011${2000 + index}`)
  await openOfAccount('messages')
  const link = page.getByRole('link', { name: '+34600112001' })
  await link.scrollIntoViewIfNeeded()
  await link.click()
  await page.getByRole('region', { name: '+34600112001' }).waitFor()

  const box = await page
    .getByRole('list', { name: 'Messages' })
    .getByRole('link', { name: '+34600112001' })
    .boundingBox()
  expect(box?.y).toBeGreaterThan(60)
  expect(box?.y).toBeLessThan(900)
  expect(pageErrors).toEqual([])
})

test('explains the search if it ignored a prefix', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await send(account, 'order-1', '34600110042')
  await openOfAccount('messages?search=0042')
  await page.getByRole('link', { name: '+34600110042' }).waitFor()
  expect(await page.getByText(/^Searched numbers for/).count()).toBe(0)

  await page.getByRole('searchbox').fill('0600 110 042')
  await page.getByText('Searched numbers for 600110042, without the leading zeros.').waitFor()
  await page.getByRole('link', { name: '+34600110042' }).waitFor()
  await page.getByRole('searchbox').fill('0700 110 042')
  await page.getByText('Searched numbers for 700110042, without the leading zeros.').waitFor()
  expect(pageErrors).toEqual([])
})

test('suppresses messages to the recipient of a message', async () => {
  const { page, openOfAccount, account, pageErrors } = await dashboard.signedIn()
  const { messageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByRole('button', { name: 'Stop messages' }).click()
  const dialog = page.getByRole('dialog', { name: 'Stop messages to +34600111222?' })
  await dialog.getByText('Still sent: order notices').waitFor()
  // The usual choice would not stop an order notice.
  expect(await dialog.getByRole('button', { name: 'Stop messages' }).isEnabled()).toBe(false)
  await dialog.getByRole('radio', { name: 'Only marketing' }).check()
  await dialog.getByRole('button', { name: 'Stop messages' }).click()
  await page.getByText('+34600111222 is on the suppression list now.').waitFor()
  const list = async () => (await account.trpc.suppression.list.query({})).items
  expect(await list()).toMatchObject([{ to: '34600111222', reason: 'manual', allMessages: false }])
  await page.getByText(/^On the suppression list since .* Stopped: Marketing\./).waitFor()
  const again = page.getByRole('button', { name: 'Send again' })
  expect(await again.isEnabled()).toBe(true)

  await page.getByRole('button', { name: 'Stop all messages' }).click()
  await dialog.getByText('All messages are stopped').waitFor()
  await dialog.getByRole('button', { name: 'Stop messages' }).click()
  await page.getByText('Gets no messages').waitFor()
  expect(await list()).toMatchObject([{ allMessages: true }])
  expect(await page.getByRole('button', { name: 'Stop all messages' }).count()).toBe(0)
  expect(await again.isEnabled()).toBe(false)
  await again.hover()
  await page.getByRole('tooltip', { name: 'The suppression list stops this message.' }).waitFor()
  expect(pageErrors).toEqual([])
})

test('keeps the filters in the URL and the focus in the field', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await report(await send(account, 'order-1'), 'delivered')
  await send(account, 'order-2', '34600111333')
  await openOfAccount('messages')
  const rows = page.getByRole('row').filter({ hasText: 'order_shipped' })
  await expect.poll(() => rows.count()).toBe(2)

  const search = page.getByRole('searchbox', { name: 'Search messages' })
  await search.pressSequentially('order-2')
  await expect.poll(() => rows.count()).toBe(1)
  expect(new URL(page.url()).search).toBe('?search=order-2')
  expect(await search.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true)

  await page.getByLabel('Status', { exact: true }).selectOption('Delivered')
  await page.getByText('No matching messages').waitFor()
  await page.getByRole('button', { name: 'Remove filter Search' }).click()
  await expect.poll(() => search.inputValue()).toBe('')
  await rows.filter({ hasText: 'order-1' }).waitFor()
  await page.reload()
  await rows.filter({ hasText: 'order-1' }).waitFor()
  expect(await page.getByLabel('Status', { exact: true }).inputValue()).toBe('delivered')
  await page.getByRole('group', { name: 'Active filters' }).getByText('Status: Delivered').waitFor()

  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect.poll(() => rows.count()).toBe(2)
  await search.fill('11 133')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByLabel('Time', { exact: true }).selectOption('Custom range')
  await page.getByLabel('From', { exact: true }).fill('2999-01-01T00:00')
  await page.getByText('No matching messages').waitFor()
  const timeZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  await page.getByText(`From: Jan 1, 2999, 12:00:00 AM ${timeZone}`).waitFor()
  await page.getByRole('button', { name: 'Show all messages' }).click()
  await expect.poll(() => rows.count()).toBe(2)
  expect(pageErrors).toEqual([])
})

test('filters by template and error code and shows the reason', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await account.template({ name: 'invoice_ready', body: 'Hello.' })
  await report(await send(account, 'order-1'), 'failed', { code: '131049', message: 'Kept back' })
  await report(await send(account, 'order-2'), 'failed', { code: '131026', message: 'Message undeliverable' })
  await send(account, 'order-3')
  await openOfAccount('messages')
  const rows = page.getByRole('row').filter({ hasText: 'order_shipped' })
  await rows.filter({ hasText: 'The message cannot reach this recipient.' }).waitFor()
  await page.getByText('3 messages', { exact: true }).waitFor()

  await page
    .getByRole('combobox', { name: 'Error code' })
    .or(page.getByRole('textbox', { name: 'Error code' }))
    .click()
  await page.getByRole('option', { name: /131049/ }).click()
  await expect.poll(() => rows.count()).toBe(1)
  await rows.filter({ hasText: 'order-1' }).waitFor()
  await page.getByText('1 message', { exact: true }).waitFor()
  expect(new URL(page.url()).search).toBe('?errorCode=131049')

  await page
    .getByRole('combobox', { name: 'Template' })
    .or(page.getByRole('textbox', { name: 'Template' }))
    .click()
  await page.getByRole('option', { name: 'invoice_ready' }).click()
  await page.getByText('No matching messages').waitFor()
  // The second click comes before the page shows the result of the first one.
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('[aria-label^="Remove filter"]')) button.click()
  })
  await expect.poll(() => rows.count()).toBe(3)
  expect(new URL(page.url()).search).toBe('')
  expect(pageErrors).toEqual([])
})

test('explains that only exact matches are listed, and searches for parts on request', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await send(account, 'order-12')
  await openOfAccount('messages?search=order-1')
  const rows = page.getByRole('row').filter({ hasText: 'order_shipped' })
  await page.getByText('Exact matches of the external ID.').waitFor()
  expect(await rows.count()).toBe(1)

  await page.getByRole('button', { name: 'Search for parts instead' }).click()

  await expect.poll(() => rows.count()).toBe(2)
  expect(await page.getByText('Exact matches').count()).toBe(0)
  expect(pageErrors).toEqual([])
})

test('opens a message beside the log by a click anywhere in its row', async () => {
  const { page, context, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  const { messageId } = await send(account, 'order-1')
  await send(account, 'order-2', '34600111333')
  await openOfAccount('messages?search=order')
  const row = page.getByRole('row', { name: /order-1/ })
  // Rows are dense, and their times have seconds.
  expect((await row.boundingBox())?.height).toBeLessThanOrEqual(37)
  expect(await row.getByRole('time').textContent()).toMatch(/\d:\d\d:\d\d/)

  await row.getByText('order-1', { exact: true }).click()

  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.getByRole('heading', { name: 'Timeline' }).waitFor()
  expect(new URL(page.url()).search).toBe(`?search=order&message=${messageId}`)
  // The list is usable: another row replaces the message, and one step back closes the panel.
  await listBeside(page).filter({ hasText: '34600111333' }).getByText('order_shipped').click()
  await page.getByRole('region', { name: '+34600111333' }).waitFor()
  await page.goBack()
  await page.getByRole('region', { name: /^\+/ }).waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?search=order')

  // A link that is shared opens the panel.
  await openOfAccount(`messages?search=order&message=${messageId}`)
  await panel.getByRole('heading', { name: 'Timeline' }).waitFor()
  await panel.getByRole('button', { name: 'Close' }).click()
  await panel.waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?search=order')

  // A click with the middle button or Ctrl opens a tab.
  for (const options of [{ button: 'middle' as const }, { modifiers: ['Control' as const] }]) {
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      row.getByText('order-1', { exact: true }).click(options),
    ])
    await tab.getByRole('region', { name: '+34600111222' }).waitFor()
    await tab.close()
  }
  expect(pageErrors).toEqual([])
})

test('scrolls the log to the message of a link', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn({
    viewport: { width: 1280, height: 500 },
  })
  const { messageId } = await send(account, 'order-0')
  for (let n = 1; n <= 12; n++) await send(account, `order-${n}`, '34600111333')

  await openOfAccount(`messages?message=${messageId}`)

  const row = listBeside(page).filter({ hasText: '34600111222' })
  const bottom = async () => ((await row.boundingBox())?.y ?? Infinity) + ((await row.boundingBox())?.height ?? 0)
  await expect.poll(bottom).toBeLessThanOrEqual(500)
  expect(pageErrors).toEqual([])
})

test('shows replies and tapped buttons in the timeline of an open message', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  const { messageId, waMessageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}`)
  const steps = page.getByRole('region', { name: '+34600111222' }).getByRole('list', { name: 'Steps' })
  await steps.getByText('The recipient has not read the message yet').waitFor()

  const replies = [userMessage(tap('Yes'), waMessageId), userMessage(text('Where is it?'), waMessageId)]
  await post(dashboard.server, repliesCallback(account.phoneNumberId, replies))

  await steps.getByText('Tapped “Yes”').waitFor()
  await steps.getByText('The webhook event message.replied has the text.').waitFor()
  expect(await steps.getByRole('listitem').last().getByRole('time').getAttribute('datetime')).toBe(
    new Date(replyTime * 1000).toISOString(),
  )
  // Who replies has read the message, even with read receipts turned off.
  await steps.getByText('The recipient read the message.').waitFor()
  expect(await page.getByText('Where is it?').count()).toBe(0)
  expect(await findAccessibilityViolations(page)).toEqual([])
  expect(pageErrors).toEqual([])
})

test('shows a message over the log on a phone, and its full page on request', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn({ viewport })
  const { messageId } = await send(account, 'order-1')
  await openOfAccount('messages')
  await page.getByRole('link', { name: '+34600111222' }).click()
  const panel = page.getByRole('dialog', { name: '+34600111222' })
  await panel.getByRole('heading', { name: 'Timeline' }).waitFor()
  expect((await panel.boundingBox())?.width).toBe(390)
  await panel.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByLabel('{{1}}').press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await panel.isVisible()).toBe(true)

  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('link', { name: '+34600111222' }).click()
  await panel.getByRole('link', { name: 'Open full page' }).click()

  await page.getByRole('heading', { level: 1, name: 'Message to +34600111222' }).waitFor()
  expect(new URL(page.url()).pathname).toContain(messageId)
  expect(pageErrors).toEqual([])
})

test('walks through the log by keyboard', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  for (const number of [1, 2, 3]) await send(account, `order-${number}`, `3460011100${number}`)
  await openOfAccount('messages')
  await page.getByRole('row', { name: /order-3/ }).waitFor()
  const focused = () => page.evaluate<string>("document.activeElement.textContent ?? ''")

  await page.keyboard.press('j')
  expect(await focused()).toBe('+34600111003')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('j')
  expect(await focused()).toBe('+34600111001')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  expect(await focused()).toBe('+34600111002')
  expect(new URL(page.url()).search).toBe('')

  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: '+34600111002' }).waitFor()
  await expect.poll(focused).toBe('+34600111002')
  await page.keyboard.press('k')
  await page.getByRole('region', { name: '+34600111003' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: /^\+/ }).waitFor({ state: 'detached' })
  expect(await focused()).toBe('+34600111003')

  // In a field, the same keys enter text.
  await page.keyboard.press('/')
  await page.keyboard.type('j/k?')
  expect(await page.getByRole('searchbox', { name: 'Search messages' }).inputValue()).toBe('j/k?')
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox', { name: 'Search messages' }).fill('')
  await page.getByRole('row', { name: /order-3/ }).waitFor()
  await page.getByRole('heading', { level: 1 }).click()

  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByRole('row', { name: /Next message/ }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await help.getByRole('switch', { name: 'Use shortcuts of a single character' }).click()
  await help.getByRole('button', { name: 'Close' }).click()
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('j')
  expect(await focused()).not.toBe('+34600111003')
  expect(pageErrors).toEqual([])
})

test('shows the sent content, its webhook and the request as curl', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  receiver.behave(accept, '/payload')
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/payload` })
  const message = await send(account, "order-1 for Ada's shop")
  await report(message, 'delivered')
  await openOfAccount(`messages?message=${message.messageId}`)
  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.getByRole('figure', { name: 'Message preview' }).getByText('is on its way').waitFor()

  await panel.getByRole('button', { name: /^message.delivered.*1 attempt/ }).click()
  await panel.getByText('HTTP 200').last().waitFor()
  await panel.getByRole('button', { name: 'View payload' }).click()
  const payload = await page.getByRole('region', { name: 'Payload', exact: true }).textContent()
  expect(JSON.parse(payload ?? '')).toEqual(JSON.parse(receiver.at('/payload').at(-1)?.body ?? ''))
  await page.keyboard.press('Escape')

  await panel.getByRole('button', { name: 'Copy as curl' }).click()
  const curl = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(curl).toContain('-H "X-API-Key: $WAYBILL_API_KEY"')
  const output = execFileSync('sh', [
    '-c',
    `curl() { printf '%s\\n' "$@"; }; WAYBILL_API_KEY=key_of_the_shell; ${curl}`,
  ])
  const [url, , key, , , , idempotencyKey, , ...body] = output.toString().split('\n')
  expect(url).toBe(`${dashboard.server.url}/api/v1/message/send`)
  expect(key).toBe('X-API-Key: key_of_the_shell')
  expect(idempotencyKey).toMatch(/^Idempotency-Key: again-msg_/)
  expect(JSON.parse(body.join('\n'))).toEqual({
    to: '34600111222',
    template: 'order_shipped',
    language: 'en',
    variables: { '1': '<1>', '2': '<2>' },
    externalId: "order-1 for Ada's shop",
    accountId: account.whatsAppAccountId,
  })
  expect(pageErrors).toEqual([])
})

test('sends a message again with new values', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  const { messageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByText('sent to +34600111222').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await dialog.getByLabel('{{1}}').fill('Grace')
  await dialog.getByRole('figure').getByText('Hello Grace').waitFor()
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await dialog.getByText('Must not be empty.').waitFor()
  await dialog.getByLabel('{{2}}').fill('WB-2000')
  await dialog.getByRole('button', { name: 'Send again' }).click()

  await page.getByText('Message sent again.').waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('message')).not.toBe(messageId)
  await expect.poll(() => listBeside(page).count()).toBe(2)
  expect(pageErrors).toEqual([])
})

test('shows the content of a message, and repeats it with the same values', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await updateAccount(dashboard.server.deps, account.accountId, { messageContentsDays: 30 })
  await account.template({ name: 'ready', body: 'Dear {{1}}, parcel {{2}} is ready.' })
  const variables = { '1': "Zoë O'Hara", '2': '*A-7* {{3}}' }
  const request = { to: '34600111222', template: 'ready', language: 'en', variables, externalId: 'order-1' }
  const { messageId } = await account.trpc.message.send.mutate(request)
  await openOfAccount(`messages?message=${messageId}`)
  const panel = page.getByRole('region', { name: '+34600111222' })
  const preview = panel.getByRole('figure', { name: 'Message preview' })
  await preview.getByText("Dear Zoë O'Hara, parcel A-7 {{3}} is ready.").waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await panel.getByRole('button', { name: 'Copy as curl' }).click()
  const curl = await page.evaluate<string>('navigator.clipboard.readText()')
  const output = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${curl}`])
  expect(JSON.parse(output.toString().split('\n').slice(8).join('\n'))).toEqual({
    ...request,
    accountId: account.whatsAppAccountId,
  })
  expect(page.url()).not.toContain('Zo')
  expect(await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
    'Zo',
  )

  await panel.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByText('These are the values of the first message.').waitFor()
  expect(await dialog.getByLabel('{{1}}').inputValue()).toBe("Zoë O'Hara")
  await dialog.getByLabel('{{2}}').fill('A-8')
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Message sent again.').waitFor()
  await page.getByRole('figure').getByText("Dear Zoë O'Hara, parcel A-8 is ready.").waitFor()
  expect(pageErrors).toEqual([])
})

test('shows the sent text after its template changed, and why a text is unknown', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  const { deps } = dashboard.server
  const before = await send(account, 'order-0')
  await updateAccount(deps, account.accountId, { messageContentsDays: 30 })
  const { messageId } = await send(account, 'order-1')
  await sql`update templates set components = '[{"type":"BODY","text":"Another text."}]'
    where account_id = ${account.accountId} and name = 'order_shipped'`.execute(deps.db)

  await openOfAccount(`messages?message=${messageId}`)
  const preview = page.getByRole('figure', { name: 'Message preview' })
  await preview.getByText('Hello Ada, your order WB-1042 is on its way.').waitFor()
  await page.getByText('The template was changed later. This is the text that was sent.').waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByText('The new message can say something else.').waitFor()

  await sql`update message_contents set content_encrypted = 'v1.00000000.x.x'
    where account_id = ${account.accountId}`.execute(deps.db)
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByText('the server has no key that decrypts the stored content').waitFor()
  await openOfAccount(`messages?message=${before.messageId}`)
  await page.getByText('the content of this message is not stored, or no longer stored').waitFor()
  await updateAccount(deps, account.accountId, { messageContentsDays: null })
  await openOfAccount(`messages?message=${before.messageId}`)
  await page.getByText('message contents are not stored').waitFor()
  await page.getByRole('link', { name: 'Message contents' }).click()
  await page.getByRole('heading', { name: 'Message contents' }).waitFor()
  expect(pageErrors).toEqual([])
})

const componentsOf = (sent: unknown) => (sent as { template: { components: unknown } }).template.components

test('fills the form with stored headers, buttons and cards', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await updateAccount(dashboard.server.deps, account.accountId, { messageContentsDays: 30 })
  const variables = { '1': 'Ada' }
  const buttons = [
    { index: 0, payload: 'paid:81' },
    { index: 1, url: 'B-81' },
  ]
  const header = { document: { link: 'https://example.com/81.pdf', filename: '81.pdf' } }
  const request = { to: '34600111222', template: 'invoice', language: 'en', variables, header, buttons }
  const { messageId } = await account.trpc.message.send.mutate(request)
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByRole('figure', { name: 'Message preview' }).getByText('81.pdf').waitFor()

  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Message sent again.').waitFor()

  const { body } = dashboard.server.simulator.requests.at(-1) ?? {}
  const first = dashboard.server.simulator.requests.at(-2)?.body
  expect(componentsOf(body)).toEqual(componentsOf(first))
  expect(pageErrors).toEqual([])
})

test('saves, applies, renames and deletes a view', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn({ role: 'viewer' })
  await report(await send(account, 'order-1'), 'failed', { code: '131049', message: 'Kept back' })
  await send(account, 'order-2')
  await openOfAccount('messages?status=failed&errorCode=131049')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('menuitem', { name: 'Save current filters' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Kept back')
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('button', { name: 'Saved views: Kept back' }).waitFor()

  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('row', { name: /order-2/ }).waitFor()
  await page.getByRole('button', { name: 'Saved views', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Kept back' }).click()
  await page.getByRole('row', { name: /order-2/ }).waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?status=failed&errorCode=131049')

  await page.getByRole('button', { name: 'Saved views: Kept back' }).click()
  await page.getByRole('menuitem', { name: 'Rename or delete views' }).click()
  await page.getByRole('textbox', { name: 'Name of Kept back' }).fill('Held')
  expect(await findAccessibilityViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('button', { name: 'Delete Held' }).click()
  await page.getByText('You have no saved views.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: 'Saved views', exact: true }).waitFor()
  expect(pageErrors).toEqual([])
})

test('shows new messages and loads earlier ones on request', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  for (let number = 1; number <= 26; number++) await send(account, `order-${number}`)
  await openOfAccount('messages')
  await page.getByRole('row', { name: /order-26/ }).waitFor()
  await send(account, 'order-27')
  await page.getByRole('row', { name: /order-27/ }).waitFor()
  expect(await page.getByRole('row', { name: /order-1$/ }).count()).toBe(0)

  await page.getByRole('button', { name: 'Load more' }).click()

  await page.getByRole('row', { name: /order-1$/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
  expect(pageErrors).toEqual([])
})

test('continues a search of a long log on request', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      external_id, created_at)
    select ${account.accountId}, 'msg_' || lpad(n::text, 26, '0'), ${account.whatsAppAccountId},
      case n when 0 then 'failed' else 'sent' end, '34600111222', 'order_shipped', 'en', 'long-' || n, now()
    from generate_series(0, 100000) as n`.execute(dashboard.server.deps.db)
  // The trigger counts no inserts, since all messages start as pending.
  await sql`
    insert into message_counts values (${account.accountId}, (now() at time zone 'UTC')::date, 'sent', true, '', -1, 100001)`.execute(
    dashboard.server.deps.db,
  )

  await openOfAccount('messages?status=failed')
  await page.getByText('No matches in the newest messages').waitFor()
  await page.getByRole('button', { name: 'Load more' }).click()
  await page.getByRole('row', { name: /long-0/ }).waitFor()

  await openOfAccount('messages')
  await page.getByText('About 100,001 messages (estimated)').waitFor()
  expect(pageErrors).toEqual([])
})

test('exports the filtered messages as CSV', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  for (let number = 1; number <= 101; number++) await send(account, `order-${number}`)
  await send(account, '=1+1, "quoted"')
  await send(account, 'elsewhere', '34600111333')
  await openOfAccount('messages?to=34600111222')

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])

  expect(download.suggestedFilename()).toMatch(/^waybill-messages-\d{4}-\d{2}-\d{2}\.csv$/)
  const text = await readFile(await download.path(), 'utf8')
  expect(text.startsWith('\ufeff')).toBe(true)
  const [header = [], ...rows] = parseCsv(text.slice(1))
  const externalIds = rows.map((row) => row[header.indexOf('External ID')])
  expect(externalIds).toEqual([`'=1+1, "quoted"`, ...Array.from({ length: 101 }, (_, index) => `order-${101 - index}`)])
  expect(rows.every((row) => row.length === header.length)).toBe(true)
  const zone = await page.evaluate<string>('Intl.DateTimeFormat().resolvedOptions().timeZone')
  expect(header.slice(0, 7)).toEqual([
    `Time (${zone})`,
    'Recipient',
    'Template',
    'Language',
    'Status',
    'Price category',
    'Charged by WhatsApp',
  ])
  expect(rows[0]?.slice(0, 5)).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    '34600111222',
    'order_shipped',
    'en',
    'Sent',
  ])
  await page.getByText('102 messages exported.').waitFor()
  expect(pageErrors).toEqual([])
})

const secondPageOfExport = /settings\.message\.list.*%22limit%22%3A1000%2C%22cursor/

/** More than a page of an export holds. */
async function storeMany({ accountId, whatsAppAccountId }: TestAccount): Promise<void> {
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      external_id, created_at)
    select ${accountId}, 'msg_' || lpad(n::text, 26, '0'), ${whatsAppAccountId}, 'sent', '34600111222', 'order_shipped', 'en',
      'order-' || n, now()
    from generate_series(1, 1001) as n`.execute(dashboard.server.deps.db)
}

test('retries an export after a lost response', async () => {
  const { page, context, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await storeMany(account)
  await openOfAccount('messages')
  await page.getByRole('row', { name: /order-1001/ }).waitFor()
  await context.route(secondPageOfExport, (route) => route.abort(), { times: 1 })

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])

  expect(parseCsv(await readFile(await download.path(), 'utf8'))).toHaveLength(1_002)
  await page.getByText('1,001 messages exported.').waitFor()
  expect(pageErrors.filter((pageError) => !pageError.includes('net::ERR_FAILED'))).toEqual([])
})

test('records an export that could not be recorded at first', async () => {
  const { page, context, openOfAccount, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await openOfAccount('messages')
  await page.getByRole('row', { name: /order-1/ }).waitFor()
  const error = {
    message: 'Rejected by a test.',
    code: -32_600,
    data: { code: 'RATE_LIMIT_EXCEEDED', httpStatus: 429 },
  }
  await context.route(/settings\.audit\.recordExport/, (route) => route.fulfill({ status: 429, json: { error } }), {
    times: 1,
  })

  await page.getByRole('button', { name: 'Export CSV' }).click()
  await page.getByText('Rejected by a test.').waitFor()
  await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Try again' }).click()])

  const { rows } = await sql`
    select from audit_entries where account_id = ${account.accountId} and what like '%export%'`.execute(
    dashboard.server.deps.db,
  )
  expect(rows.length).toBeGreaterThan(0)
})

test('continues an export that failed where it ended', async () => {
  const { page, context, openOfAccount, account } = await dashboard.signedIn()
  await storeMany(account)
  await openOfAccount('messages')
  await page.getByRole('row', { name: /order-1001/ }).waitFor()
  let firstPages = 0
  await context.route(/settings\.message\.list.*%22limit%22%3A1000%7D/, (route) => (firstPages++, route.continue()))
  const error = { message: 'Rejected by a test.', code: -32_600, data: { code: 'VALIDATION_ERROR', httpStatus: 400 } }
  await context.route(secondPageOfExport, (route) => route.fulfill({ status: 400, json: { error } }), { times: 1 })

  await page.getByRole('button', { name: 'Export CSV' }).click()
  await page.getByText('The export continues after the 1,000 messages that are loaded.').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Try again' }).click(),
  ])

  const [header = [], ...rows] = parseCsv((await readFile(await download.path(), 'utf8')).slice(1))
  expect(rows.map((row) => row[header.indexOf('External ID')])).toEqual(
    Array.from({ length: 1_001 }, (_, index) => `order-${1_001 - index}`),
  )
  expect(firstPages).toBe(1)
})

test('returns from a message to the filtered log', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await send(account, 'order-2')
  await openOfAccount('messages?externalId=order-1')
  await page.getByRole('link', { name: '+34600111222' }).click()
  await page.getByRole('link', { name: 'Open full page' }).click()
  await page.getByRole('heading', { level: 1, name: 'Message to +34600111222' }).waitFor()

  await page.getByRole('main').getByRole('link', { name: 'Messages' }).click()

  await page.getByRole('region', { name: '+34600111222' }).waitFor()
  expect(new URL(page.url()).searchParams.get('externalId')).toBe('order-1')
  expect(pageErrors).toEqual([])
})

test('shows an account without messages how to send one', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn({ role: 'viewer' })
  await openOfAccount('messages')
  await page.getByRole('region', { name: 'Example request' }).getByText('Idempotency-Key').waitFor()
  expect(await page.getByRole('link', { name: 'Open Public API' }).getAttribute('href')).toBe(
    `/settings/${account.accountId}/public-api#example-request`,
  )

  await openOfAccount('messages/msg_of_nobody')
  await page.getByText('Message not found').waitFor()
  expect(pageErrors).toEqual([])
})

test('lets a viewer read deliveries but not retry them', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn({ role: 'viewer' })
  const message = await seedMessages(account)
  await openOfAccount(`messages/${message.messageId}`)
  await page.getByRole('button', { name: /^message.failed/ }).click()
  const retry = page.getByRole('button', { name: 'Retry now' })
  expect(await retry.getAttribute('aria-disabled')).toBe('true')
  await retry.hover()
  await page.getByText('Viewers have read-only access').waitFor()
  expect(pageErrors).toEqual([])
})

test.each(['light', 'dark'] as const)('shows accessible message pages in %s', async (colorScheme) => {
  const visit = await dashboard.signedIn({ colorScheme })
  await expectAccessible(visit)
})

test('shows accessible message pages on a phone', async () => {
  const visit = await dashboard.signedIn({ viewport: { width: 390, height: 844 } })
  await expectAccessible(visit)
})

async function expectAccessible({ page, openOfAccount, pageErrors, account }: SignedInVisit) {
  await openOfAccount('messages')
  await page.getByText('Send your first message').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  const message = await seedMessages(account)
  await page.getByRole('link', { name: '+34600111222' }).first().waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  const width = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  expect(width).toBe(0)

  await page.getByRole('link', { name: '+34600111222' }).first().click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.getByRole('figure', { name: 'Message preview' }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0)

  await openOfAccount(`messages/${message.messageId}`)
  await page.getByRole('button', { name: /^message.failed.*1 attempt/ }).click()
  await page.getByText('HTTP 500').last().waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0)
  expect(pageErrors).toEqual([])
}

/** Sends a message in every status; the webhook of the failed one fails too. */
async function seedMessages(account: TestAccount): Promise<Sent> {
  receiver.behave(respond(500), '/furnished')
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/furnished` })
  for (const status of ['sent', 'delivered', 'read'] as const) await report(await send(account, status), status)
  const failed = await send(account, 'failed')
  await report(failed, 'failed', { code: '131049', message: 'This message was not delivered' })
  return failed
}

/** Parses CSV as a spreadsheet does (RFC 4180). */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

test('warns before a message with an unknown outcome is sent again, and offers to record the outcome', async () => {
  const { page, openOfAccount, pageErrors, account } = await dashboard.signedIn()
  const { db } = dashboard.server.deps
  const { messageId } = await send(account, 'order-unknown')
  const readStatus = async () => {
    const query = db.selectFrom('messages').select('status').where('id', '=', messageId)
    return (await query.executeTakeFirstOrThrow()).status
  }
  // The outcome may be stored after the response.
  await expect.poll(readStatus).toBe('sent')
  // As if the response to the send had been lost two minutes ago.
  await sql`
    update messages set status = 'pending', sent_at = null, wa_message_id = null,
      created_at = now() - interval '2 minutes', recorded_at = now() - interval '2 minutes'
    where id = ${messageId}`.execute(db)
  await sql`insert into overdue_messages (account_id, id) values (${account.accountId}, ${messageId})`.execute(db)

  await openOfAccount('overview')
  await page.getByRole('link', { name: /1 more, outcome unknown/ }).click()
  await page.getByText('Status: Pending: outcome unknown').waitFor()
  await page.getByRole('link', { name: '+34600111222' }).click()
  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.getByText('Outcome unknown', { exact: true }).waitFor()
  await panel.getByText('It is unknown whether WhatsApp accepted the message.').waitFor()
  await panel.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The recipient may get this message twice').waitFor()
  await dialog.getByRole('button', { name: 'Send anyway' }).waitFor()

  await dialog.getByRole('button', { name: 'It was not sent' }).click()

  await dialog.getByRole('button', { name: 'Send again' }).waitFor()
  expect(await dialog.getByText('The recipient may get this message twice').count()).toBe(0)
  expect(await readStatus()).toBe('failed')
  expect(pageErrors).toEqual([])
})
