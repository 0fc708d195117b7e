import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { exampleSend } from '../../support/example-send.ts'
import { listBeside, report, send } from './sent-messages.ts'
import { findAccessibilityViolations, useDashboard } from './support.ts'

const dashboard = useDashboard()

test('sums up why messages failed, and filters by a reason', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  for (const index of [1, 2, 3])
    await report(dashboard.server, await send(account, `order-${index}`), 'failed', {
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
})

test('filters by the sending number, in views and exports too', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
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
})

const isCut = (cell: Locator) => cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)

test.each([1280, 1440, 1920])('shows important cells in full at %i px, also beside a message', async (width) => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport: { width, height: 900 } })
  const message = await send(account, 'order-1', '498888888888888')
  await report(dashboard.server, message, 'failed', { code: '131026', message: 'Message undeliverable' })
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
})

test.each([1024, 1440])('shows the longest reason in full at %i px', async (width) => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport: { width, height: 900 } })
  const message = await send(account, 'order-1', '498888888888888')
  await report(dashboard.server, message, 'failed', {
    code: '130472',
    message: "User's number is part of an experiment",
  })
  await openOfAccount('messages?search=order')
  const log = width < 1200 ? listBeside(page) : page.getByRole('table')
  const reason = log.getByText(/part of an experiment by Meta with this recipient\.$/)
  await reason.waitFor()

  expect(await isCut(reason)).toBe(false)
  expect(await reason.evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)).toBe(false)
})

test('keeps the opened message visible when the table becomes a list', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
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
})

test('explains the search if it ignored a prefix', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account, 'order-1', '34600110042')
  await openOfAccount('messages?search=0042')
  await page.getByRole('link', { name: '+34600110042' }).waitFor()
  expect(await page.getByText(/^Searched numbers for/).count()).toBe(0)

  await page.getByRole('searchbox').fill('0600 110 042')
  await page.getByText('Searched numbers for 600110042, without the leading zeros.').waitFor()
  await page.getByRole('link', { name: '+34600110042' }).waitFor()
  await page.getByRole('searchbox').fill('0700 110 042')
  await page.getByText('Searched numbers for 700110042, without the leading zeros.').waitFor()
})

test('keeps the filters in the URL and the focus in the field', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await report(dashboard.server, await send(account, 'order-1'), 'delivered')
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
})

test('clears the search, also one that is still being typed', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await send(account, 'order-2')
  await openOfAccount('messages?search=order-1')
  const rows = page.getByRole('row').filter({ hasText: 'order_shipped' })
  await expect.poll(() => rows.count()).toBe(1)
  const search = page.getByRole('searchbox', { name: 'Search messages' })

  await page.getByRole('button', { name: 'Clear search' }).click()
  await expect.poll(() => rows.count()).toBe(2)
  expect(new URL(page.url()).search).toBe('')

  await search.fill('order-2')
  await expect.poll(() => rows.count()).toBe(1)
  await page.clock.install()
  // Both in one task, so that the second text still waits to be applied.
  await search.evaluate((field: HTMLInputElement) => {
    const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set
    setValue?.call(field, 'order-23')
    field.dispatchEvent(new Event('input', { bubbles: true }))
    for (const button of document.querySelectorAll('button')) if (button.textContent === 'Clear filters') button.click()
  })
  await expect.poll(() => rows.count()).toBe(2)
  await page.clock.fastForward(1_000)
  expect(new URL(page.url()).search).toBe('')
  expect(await search.inputValue()).toBe('')
})

test('takes a custom range that is typed', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await openOfAccount('messages?range=custom&from=2000-01-01T00:00:00Z')
  await page.getByRole('row', { name: /order-1/ }).waitFor()
  const from = page.getByLabel('From', { exact: true })

  // Month, day, year and time: each key of a complete field changes its value.
  await from.focus()
  await page.keyboard.type('12252998')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.type('1145PM')

  expect(await from.inputValue()).toBe('2998-12-25T23:45')
  await page.getByText('No matching messages').waitFor()
  expect(await from.inputValue()).toBe('2998-12-25T23:45')
})

test('filters by template and error code and shows the reason', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await account.template({ name: 'invoice_ready', body: 'Hello.' })
  await report(dashboard.server, await send(account, 'order-1'), 'failed', { code: '131049', message: 'Kept back' })
  await report(dashboard.server, await send(account, 'order-2'), 'failed', {
    code: '131026',
    message: 'Message undeliverable',
  })
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
})

test('explains that only exact matches are listed, and searches for parts on request', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await send(account, 'order-12')
  await openOfAccount('messages?search=order-1')
  const rows = page.getByRole('row').filter({ hasText: 'order_shipped' })
  await page.getByText('Exact matches of the external ID.').waitFor()
  expect(await rows.count()).toBe(1)

  await page.getByRole('button', { name: 'Search for parts instead' }).click()

  await expect.poll(() => rows.count()).toBe(2)
  expect(await page.getByText('Exact matches').count()).toBe(0)
})

test('opens a message beside the log by a click anywhere in its row', async () => {
  const { page, context, openOfAccount, account } = await dashboard.signedIn()
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
})

test('scrolls the log to the message of a link', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport: { width: 1280, height: 500 } })
  const { messageId } = await send(account, 'order-0')
  for (let n = 1; n <= 12; n++) await send(account, `order-${n}`, '34600111333')

  await openOfAccount(`messages?message=${messageId}`)

  const row = listBeside(page).filter({ hasText: '34600111222' })
  const bottom = async () => ((await row.boundingBox())?.y ?? Infinity) + ((await row.boundingBox())?.height ?? 0)
  await expect.poll(bottom).toBeLessThanOrEqual(500)
})

test('shows a message over the log on a phone, and its full page on request', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport })
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
})

test('walks through the log by keyboard', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
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
})

test('saves, applies, renames and deletes a view', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  await report(dashboard.server, await send(account, 'order-1'), 'failed', { code: '131049', message: 'Kept back' })
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
})

test('shows new messages and loads earlier ones on request', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  for (let number = 1; number <= 26; number++) await send(account, `order-${number}`)
  await openOfAccount('messages')
  await page.getByRole('row', { name: /order-26/ }).waitFor()
  await send(account, 'order-27')
  await page.getByRole('row', { name: /order-27/ }).waitFor()
  expect(await page.getByRole('row', { name: /order-1$/ }).count()).toBe(0)

  await page.getByRole('button', { name: 'Load more' }).click()

  await page.getByRole('row', { name: /order-1$/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
})

test('continues a search of a long log on request', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
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
})

test('returns from a message to the filtered log', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await send(account, 'order-2')
  await openOfAccount('messages?externalId=order-1')
  await page.getByRole('link', { name: '+34600111222' }).click()
  await page.getByRole('link', { name: 'Open full page' }).click()
  await page.getByRole('heading', { level: 1, name: 'Message to +34600111222' }).waitFor()

  await page.getByRole('main').getByRole('link', { name: 'Messages' }).click()

  await page.getByRole('region', { name: '+34600111222' }).waitFor()
  expect(new URL(page.url()).searchParams.get('externalId')).toBe('order-1')
})

test('shows an account without messages how to send one', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  await openOfAccount('messages')
  await page.getByRole('region', { name: 'Example request' }).getByText('Idempotency-Key').waitFor()
  expect(await page.getByRole('link', { name: 'Open Public API' }).getAttribute('href')).toBe(
    `/settings/${account.accountId}/public-api#example-request`,
  )

  await openOfAccount('messages/msg_of_nobody')
  await page.getByText('Message not found').waitFor()
})
