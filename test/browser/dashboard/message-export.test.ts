import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TestAccount } from '../../support/server.ts'
import { send } from './sent-messages.ts'
import { useDashboard } from './support.ts'

const dashboard = useDashboard()

test('exports the filtered messages as CSV', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
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
  const { page, context, openOfAccount, account } = await dashboard.signedIn()
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
