import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { setAllowList } from '../../../src/accounts/ip-allow-list.ts'
import { firstRequestIdAt } from '../../../src/platform/ids.ts'
import { exampleSend } from '../../support/example-send.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, useDashboard } from './support.ts'

const dashboard = useDashboard()

async function send(apiKey: string) {
  return dashboard.server.request('POST', '/api/v1/message/send', {
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(exampleSend),
  })
}

test('revokes a key, generates a new one and shows it once', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog', { name: 'Revoke the API key?' }).getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('No API key').waitFor()
  expect((await send(account.apiKey)).statusCode).toBe(401)

  await page.getByRole('button', { name: 'Generate key' }).click()

  await page.getByText('It is shown only once.').waitFor()
  const apiKey = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  expect((await send(apiKey)).statusCode).toBe(200)
  await page.getByRole('button', { name: 'Copy API key' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(apiKey)

  await page.reload()
  await page.getByText(`${apiKey.slice(0, 14)}…`).waitFor()
  expect(await page.content()).not.toContain(apiKey)
})

test('replaces the old key immediately', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('dialog').getByText('The current key stops working immediately.').waitFor()
  await page.getByRole('button', { name: 'Replace key' }).click()

  const apiKey = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  await page.getByText('None yet').waitFor()
  expect((await send(account.apiKey)).statusCode).toBe(401)
  expect((await send(apiKey)).statusCode).toBe(200)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  expect(await page.content()).not.toContain(apiKey)
})

test('shows a curl command that works with the new key', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('button', { name: 'Replace key' }).click()
  await page.getByText('It is shown only once.').waitFor()
  const command = (await page.getByRole('region', { name: 'curl command' }).textContent()) ?? ''
  const environment = await page.getByRole('textbox', { name: 'Environment variable' }).inputValue()
  expect(command).not.toContain('wb_live_')

  const { stdout } = await promisify(execFile)('sh', ['-c', `${environment}\n${command.replace('curl', 'curl -s')}`])

  expect(JSON.parse(stdout)).toMatchObject({ success: true, data: { status: 'sent' } })
})

test('fills a template and a recipient into the examples of all languages', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const examples = page.getByRole('region', { name: 'Example request', exact: true })
  await examples.getByRole('combobox', { name: 'Template' }).click()
  await page.getByRole('option', { name: 'order_shipped (en)' }).click()
  await examples.getByLabel('Recipient').fill('34600999888')
  for (const [label, text] of [
    ['TypeScript', "to: '34600999888',"],
    ['Python', '"template": "order_shipped",'],
    ['Go', '"language":  "en",'],
    ['Java', '"to": "34600999888",'],
    ['PHP', "'to' => '34600999888',"],
  ] as const) {
    await examples.getByRole('tab', { name: label }).click()
    const code = (await examples.getByRole('region', { name: `${label} code` }).textContent()) ?? ''
    expect(code).toContain(text)
    expect(code).toContain(`${dashboard.server.url}/api/v1/message/send`)
  }
  await examples.getByLabel('Recipient').fill('+34')
  await examples.getByText('Use digits only.').waitFor()

  const clients = page.getByRole('region', { name: 'Clients and types', exact: true })
  expect(await clients.getByRole('textbox', { name: 'Types of your templates' }).inputValue()).toBe(
    `npx --package=${dashboard.server.url}/client/waybill-client.tgz waybill-client types --url ${dashboard.server.url}`,
  )
  await clients.getByRole('combobox', { name: 'Generated client' }).click()
  await page.getByRole('option', { name: /^Python/ }).click()
  await clients.getByText(`openapi-python-client generate --url ${dashboard.server.url}/openapi.json`).waitFor()
})

test('opens the reference with a new key that only the session of its tab keeps', async () => {
  const { page, context, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('button', { name: 'Replace key' }).click()
  const apiKey = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  const requested: string[] = []
  context.on('request', (request) => requested.push(`${request.url()} ${request.headers()['referer'] ?? ''}`))
  const opening = context.waitForEvent('page')
  await page.getByRole('button', { name: 'Try it in the docs' }).click()
  const reference = await opening

  const readFields = () =>
    reference.evaluate<string[]>(`[...document.querySelectorAll('#docs input')].map((input) => input.value)`)
  await expect.poll(readFields).toContain(apiKey)
  expect(reference.url()).toContain('/docs/api#')
  await reference.getByRole('region', { name: 'Send a template message to one recipient' }).waitFor()
  expect(await reference.evaluate('window.opener === null')).toBe(true)
  const readStored = 'JSON.stringify([{ ...localStorage }, document.cookie])'
  expect(await reference.evaluate<string>(readStored)).not.toContain(apiKey)
  expect(await page.evaluate<string>(readStored)).not.toContain(apiKey)
  expect(await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')).not.toContain(apiKey)
  expect(reference.url() + requested.join('\n')).not.toContain(apiKey)
  expect(requested.join('\n')).toContain('/docs/setup.js')
  expect((await dashboard.server.request('GET', '/docs/api')).text).not.toContain(apiKey)

  await reference.reload()
  await expect.poll(readFields).toContain(apiKey)
  const other = await context.newPage()
  await other.goto(`${dashboard.server.url}/docs/api`)
  await other.getByPlaceholder('Paste your API key').first().waitFor({ state: 'attached' })
  expect(await other.evaluate<string>('JSON.stringify({ ...sessionStorage })')).not.toContain(apiKey)
})

test('shows the key, then privacy, then code, each behind a link at the top', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const contents = page.getByRole('navigation', { name: 'On this page' })
  await contents.waitFor()

  const names = await contents.getByRole('link').allTextContents()
  expect(names).toEqual(await page.getByRole('heading', { level: 2 }).allTextContents())
  expect(names.slice(-3)).toEqual(['Message contents', 'Example request', 'Clients and types'])
  for (const name of names) {
    await contents.getByRole('link', { name }).click()
    const section = page.getByRole('region', { name, exact: true })
    await expect.poll(() => section.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)
  }
})

test('rejects requests while API access is off', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const access = page.getByRole('switch', { name: 'Allow API requests' })
  await access.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('API access is off.').waitFor()
  await page.getByText('Every request with your key is rejected', { exact: true }).waitFor()
  expect((await send(account.apiKey)).json().error.code).toBe('API_DISABLED')

  await access.click()

  await page.getByText('API access is on.').waitFor()
  await page.getByText('Every request with your key is rejected', { exact: true }).waitFor({ state: 'detached' })
  expect((await send(account.apiKey)).statusCode).toBe(200)
})

test('stores message contents for some days, and asks before deleting them', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const section = page.getByRole('region', { name: 'Message contents' })
  await section.getByRole('switch', { name: 'Store message contents', checked: false }).waitFor()

  await section.getByLabel('Store message contents').click()
  await page.getByText('Message contents are stored for 30 days.').waitFor()
  const changes: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('setMessageContents')) changes.push(request.url())
  })
  await section.getByLabel('Delete after (days)').fill('7')
  await section.getByRole('button', { name: 'Save' }).dblclick()
  await page.getByText('Message contents are stored for 7 days.').first().waitFor()
  expect(changes).toHaveLength(1)
  expect(await findAccessibilityViolations(page)).toEqual([])
  await account.trpc.message.send.mutate(exampleSend)

  await section.getByLabel('Store message contents').click()
  await page
    .getByRole('dialog', { name: 'Delete all message contents?' })
    .getByRole('button', { name: 'Turn off and delete' })
    .click()
  await page.getByText('Message contents are not stored.').waitFor()
  const { db } = dashboard.server.deps
  const stored = db.selectFrom('message_contents').select('message_id').where('account_id', '=', account.accountId)
  await expect.poll(async () => (await stored.execute()).length).toBe(0)
})

test('says once that the days of message contents were not saved', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const section = page.getByRole('region', { name: 'Message contents' })
  await section.getByLabel('Store message contents').click()
  await section.getByLabel('Delete after (days)').fill('7')
  await page.route(/publicApi\.setMessageContents/, (route) => route.abort())
  await section.getByRole('button', { name: 'Save' }).click()

  await section.getByRole('alert').getByText('Could not reach the server.').waitFor()
  expect(await page.getByText('Could not reach the server.').count()).toBe(1)
})

test('asks before a user locks out their own address and warns afterwards', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const field = page.getByLabel('Address or range')
  await field.fill('192.0.2.0/24')
  await field.press('Enter')
  const warning = page.getByRole('dialog', { name: 'Leave out your own address?' })
  await warning.getByText('127.0.0.1').waitFor()
  expect((await send(account.apiKey)).statusCode).toBe(200)

  await warning.getByRole('button', { name: 'Save without it' }).click()

  await page.getByText('Your IP address 127.0.0.1 is not on the allow-list').waitFor()
  expect((await send(account.apiKey)).json().error.code).toBe('IP_NOT_ALLOWED')

  await page.getByRole('button', { name: 'Add my address (127.0.0.1)' }).click()
  await page.getByText('Your IP address 127.0.0.1 is not on the allow-list').waitFor({ state: 'hidden' })
  expect((await send(account.apiKey)).statusCode).toBe(200)
})

test('asks before a list excludes addresses that called the API recently, and adds them', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await dashboard.server.deps.db
    .insertInto('api_requests')
    .values({
      account_id: account.accountId,
      id: `${firstRequestIdAt(new Date(Date.now() - 60_000))}_0`,
      method: 'POST',
      path: '/api/v1/message/send',
      status: 200,
      error_code: null,
      duration_ms: 10,
      key_start: account.apiKey.slice(0, 14),
      address: '198.51.100.7',
      message_ids: 'msg_1+msg_2',
      external_id: null,
      request: null,
      answer: null,
    })
    .execute()
  await openOfAccount('public-api')
  await page
    .getByText(/^Busiest minute since .*: 2 send requests by the API, at .* No request exceeded this limit\.$/)
    .waitFor()
  const field = page.getByLabel('Address or range')
  await field.fill('192.0.2.0/24')
  await field.press('Enter')

  const warning = page.getByRole('dialog', { name: 'Leave out addresses that call the API?' })
  await warning.getByText('198.51.100.7 and 127.0.0.1').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await warning.getByRole('button', { name: 'Save and add 2 addresses' }).click()

  await page.getByText('Restricted to 3 entries').waitFor()
  expect((await send(account.apiKey)).statusCode).toBe(200)
})

test('shows an invalid address as a field error and keeps the input', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const field = page.getByLabel('Address or range')
  await field.fill('192.0.2.0/33')
  await field.press('Enter')

  await page.getByText('"192.0.2.0/33" is neither an IP address nor a CIDR range').waitFor()
  expect(await field.inputValue()).toBe('192.0.2.0/33')
  expect(await field.getAttribute('aria-invalid')).toBe('true')
})

test('keeps a typed address while other entries of the allow-list change', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  const field = page.getByLabel('Address or range')
  await field.fill('192.0.2.0/24')
  await page.getByRole('button', { name: 'Add my address (127.0.0.1)' }).click()
  await page.getByText('Allow-list saved.').waitFor()
  expect(await field.inputValue()).toBe('192.0.2.0/24')

  await page.route(/publicApi\.setAllowList/, (route) => route.abort())
  await page.getByRole('button', { name: 'Remove 127.0.0.1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Allow all addresses' }).click()
  await page.getByText('Something went wrong', { exact: true }).waitFor()

  expect(await field.inputValue()).toBe('192.0.2.0/24')
  expect(await field.getAttribute('aria-invalid')).not.toBe('true')
})

/** Never answers the next refresh of the page, so that the page keeps what it shows. */
async function holdRefresh(page: Page): Promise<void> {
  const { promise: held, resolve } = Promise.withResolvers<void>()
  await page.route(/publicApi\.get\b/, () => resolve(), { times: 1 })
  await held
}

test('keeps an entry that another owner added meanwhile', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Add my address (127.0.0.1)' }).click()
  await page.getByText('Allow-list saved.').waitFor()
  await page.getByRole('button', { name: 'Remove 127.0.0.1' }).click()
  await holdRefresh(page)
  await setAllowList(dashboard.server.deps, account.accountId, ['127.0.0.1', '192.0.2.7'])

  await page.getByRole('dialog').getByRole('button', { name: 'Allow all addresses' }).click()

  await page.getByText('Restricted to 1 entry').waitFor()
  await page.getByRole('button', { name: 'Remove 192.0.2.7' }).waitFor()
  expect(await page.getByRole('button', { name: 'Remove 127.0.0.1' }).count()).toBe(0)
})

test('does not allow all addresses because another owner removed the other entry meanwhile', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { accountId } = account
  await setAllowList(dashboard.server.deps, accountId, ['127.0.0.1', '192.0.2.7'])
  await openOfAccount('public-api')
  await page.getByText('Restricted to 2 entries').waitFor()
  await holdRefresh(page)
  await setAllowList(dashboard.server.deps, accountId, ['192.0.2.7'])

  await page.getByRole('button', { name: 'Remove 192.0.2.7' }).click()

  await page.getByText('Another owner has changed the list').waitFor()
  const stored = await dashboard.server.deps.db
    .selectFrom('accounts')
    .select('allow_list')
    .where('id', '=', accountId)
    .executeTakeFirst()
  expect(stored?.allow_list).toEqual(['192.0.2.7'])
})

test('asks before an empty allow-list allows all addresses', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Add my address (127.0.0.1)' }).click()
  await page.getByRole('button', { name: 'Remove 127.0.0.1' }).click()
  const warning = page.getByRole('dialog', { name: 'Allow all addresses?' })
  await warning.getByRole('button', { name: 'Allow all addresses' }).click()

  await page.getByText('All addresses allowed').waitFor()
})

test('updates the rate limit while the page is open', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByText(/^0 of 100,000 send requests/).waitFor()
  await send(account.apiKey)

  await page.getByText(/^1 of 100,000 send requests/).waitFor()
  expect(await page.getByRole('textbox', { name: 'Raise the limit' }).inputValue()).toBe(
    `waybill account update ${account.accountId} --rate-limit 200000`,
  )
})

test('lets a viewer see API settings but not change them', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ role: 'viewer' })
  await openOfAccount('public-api')
  const revoke = page.getByRole('button', { name: 'Revoke' })
  await revoke.waitFor()

  expect(await revoke.getAttribute('aria-disabled')).toBe('true')
  for (const name of ['Allow API requests', 'Allow template changes', 'Allow AI assistants'])
    expect(await page.getByRole('switch', { name }).isDisabled()).toBe(true)
  await page.getByText('Viewers have read-only access.', { exact: true }).waitFor()
  expect(await page.getByLabel('Address or range').count()).toBe(0)
  await revoke.focus()
  await page.getByRole('tooltip', { name: 'Viewers have read-only access' }).waitFor()
  await revoke.press('Enter')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('records changes in the audit log', async () => {
  const { page, openOfAccount, email } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Add my address (127.0.0.1)' }).click()
  await page.getByRole('button', { name: 'Remove 127.0.0.1' }).waitFor()
  await page.getByRole('link', { name: 'Audit log' }).click()

  const row = page.getByRole('row').filter({ hasText: 'Set the allow-list to 127.0.0.1' })
  expect(await row.textContent()).toContain(email)
  expect(await row.textContent()).toContain('Done')

  await page.getByLabel('User', { exact: true }).selectOption('Operator')
  await page.getByText('No entry matches.').waitFor()
  await page.getByLabel('User', { exact: true }).selectOption(email)
  await page.getByRole('row', { name: /Set the allow-list to 127\.0\.0\.1/ }).waitFor()
  await page.getByLabel('Until').fill('2020-01-01')
  await page.getByText('No entry matches.').waitFor()
  await page.getByLabel('From').fill('2020-01-02')
  await page.getByText('The last day is before the first.').waitFor()
})

test('says that an export of the audit log lacks older entries', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('audit-log')
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
  // A log without an end.
  const data = { items: [], nextCursor: 'more' }
  await page.route(/audit\.list/, (route) => route.fulfill({ json: { result: { data } } }))
  await page.getByRole('button', { name: 'Export CSV' }).click()

  await page.getByText(/^The file contains only the newest .* matching entries\./).waitFor()
})

test('API pages are accessible', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('public-api')
  await page.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('dialog').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await page.getByRole('button', { name: 'Replace key' }).click()
  await page.getByText('It is shown only once.').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const field = page.getByLabel('Address or range')
  await field.fill('nonsense')
  await field.press('Enter')
  await page.getByText('is neither an IP address').waitFor()
  await field.fill('192.0.2.0/24')
  await field.press('Enter')
  await page.getByRole('button', { name: 'Save without it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText('is not on the allow-list').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await openOfAccount('audit-log')
  await page.getByRole('row').nth(2).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
})
