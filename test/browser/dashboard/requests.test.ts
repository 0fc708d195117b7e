import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { exampleSend } from '../../support/example-send.ts'
import type { TestAccount } from '../../support/server.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, useDashboard } from './support.ts'

const dashboard = useDashboard({ requestLog: {}, deps: { requestLogDays: 7 } })

const { externalId: _, ...message } = exampleSend

/** A send, one that WhatsApp rejects, one with a malformed number, and a call of an unknown path with markup. */
async function call(account: TestAccount) {
  const sent = await account.post('/api/v1/message/send', message)
  const rejected = await account.post('/api/v1/message/send', { ...message, to: '15550131026' })
  const malformed = await account.post('/api/v1/message/send', { ...message, to: '+34 600', externalId: 'order-7' })
  await account.get('/api/v1/<img src=x onerror=alert(1)>')
  const requestIdOf = ({ headers }: typeof sent) => String(headers['x-request-id'])
  return {
    messageId: String(sent.json().data['messageId']),
    sentId: requestIdOf(sent),
    rejectedId: requestIdOf(rejected),
    malformedId: requestIdOf(malformed),
  }
}

function rowsOf(page: Page) {
  return page.getByRole('table').getByRole('row')
}

test('changes two filters in one task', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await call(account)
  await openOfAccount('requests?outcome=failed&errorCode=VALIDATION_ERROR')
  await expect.poll(() => rowsOf(page).count()).toBe(1 + 1)

  // React renders neither change before the other one is made.
  await page.evaluate(() => {
    for (const label of ['Outcome', 'Time']) {
      const select = [...document.querySelectorAll('label')].find(({ textContent }) => textContent === label)?.control
      if (!(select instanceof HTMLSelectElement)) throw new Error(`no field ${label}`)
      const set = Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value')?.set
      set?.call(select, label === 'Time' ? '24h' : '')
      select.dispatchEvent(new Event('change', { bubbles: true }))
    }
  })

  await expect.poll(() => new URL(page.url()).search).toBe('?range=24h&errorCode=VALIDATION_ERROR')
})

test('leaves a field as it is while its text is applied', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await call(account)
  await openOfAccount('requests')
  await expect.poll(() => rowsOf(page).count()).toBe(1 + 4)
  const field = page.getByLabel('Search requests')
  // React sets the field only if it should show something else.
  await field.evaluate((input) => {
    const { get, set } = Object.getOwnPropertyDescriptor(input, 'value') ?? {}
    const write = (value: string) => {
      input.dataset['written'] = `${input.dataset['written'] ?? ''}[${value}]`
      set?.call(input, value)
    }
    Object.defineProperty(input, 'value', { configurable: true, get: () => get?.call(input), set: write })
  })

  await field.pressSequentially('order-7')

  await expect.poll(() => rowsOf(page).count()).toBe(1 + 1)
  expect(new URL(page.url()).search).toBe('?search=order-7')
  expect(await field.getAttribute('data-written')).toBeNull()
})

test('does not reopen a request that was closed', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { sentId } = await call(account)
  // Requests are logged in the background.
  await openOfAccount('requests')
  await rowsOf(page).nth(4).waitFor()
  await openOfAccount(`requests?request=${sentId}`)
  const panel = page.getByRole('dialog', { name: 'API request' })
  await panel.getByText(sentId).waitFor()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).search).toBe('')

  await page.goBack()

  await rowsOf(page).nth(4).waitFor()
  expect(new URL(page.url()).search).toBe('')
})

test('lists, filters and opens requests', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('requests')
  await page.getByText('No requests yet').waitFor()
  const { messageId, malformedId, rejectedId } = await call(account)

  await expect.poll(() => rowsOf(page).count()).toBe(1 + 4)
  expect(await rowsOf(page).nth(1).textContent()).toContain('GET /%3Cimg')
  expect(await findViolationsInBothSchemes(page)).toEqual([])

  await page.getByLabel('Outcome').selectOption('Failed')
  await expect.poll(() => rowsOf(page).count()).toBe(1 + 3)
  await page.getByText('3 requests', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'MESSAGE_REJECTED 1' }).click()
  await expect.poll(() => rowsOf(page).count()).toBe(1 + 1)
  await page.getByRole('button', { name: 'MESSAGE_REJECTED 1', pressed: true }).click()
  await expect.poll(() => rowsOf(page).count()).toBe(1 + 3)
  await page.getByRole('combobox', { name: 'Error code' }).fill('validation')
  await page.getByRole('combobox', { name: 'Error code' }).press('Enter')
  expect(await page.getByRole('combobox', { name: 'Error code' }).inputValue()).toBe('VALIDATION_ERROR')
  await expect.poll(() => rowsOf(page).count()).toBe(1 + 1)
  await page.getByRole('cell', { name: 'VALIDATION_ERROR to: must be the country code' }).click()
  const panel = page.getByRole('dialog', { name: 'API request' })
  await panel.getByText(malformedId).waitFor()
  expect(await panel.getByRole('region', { name: 'Request' }).textContent()).toContain('"to": "+34 600"')
  expect(await panel.getByRole('region', { name: 'Request' }).textContent()).not.toContain('WB-1042')
  expect(await panel.getByRole('region', { name: 'Response' }).textContent()).toContain('to: must be the country code')
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await panel.getByRole('button', { name: 'Copy as curl' }).click()
  const curl = await page.evaluate('navigator.clipboard.readText()')
  expect(curl).toContain(`curl -X POST '${dashboard.server.url}/api/v1/message/send'`)
  expect(curl).toContain('X-API-Key: $WAYBILL_API_KEY')
  expect(curl).toContain('"to": "+34 600"')
  await panel.getByRole('button', { name: 'Copy request ID' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(malformedId)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?outcome=failed&errorCode=VALIDATION_ERROR')

  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByLabel('Search requests').fill('order-7')
  await expect.poll(() => rowsOf(page).count()).toBe(1 + 1)
  await page.getByLabel('Search requests').fill('no-such-order')
  await page.getByText('No matching requests').waitFor()
  await page.getByText('No request matches the search “no-such-order”.').waitFor()
  await page.getByText('Requests are kept for at least 7 days.').first().waitFor()
  await page.getByLabel('Search requests').fill(rejectedId)
  await page.getByRole('cell', { name: 'MESSAGE_REJECTED' }).click()
  await panel.getByRole('link', { name: /^msg_/ }).click()
  await page.getByRole('heading', { name: 'Message to +15550131026' }).waitFor()
  await page.getByRole('link', { name: rejectedId }).click()
  await panel.getByText(rejectedId).waitFor()

  await openOfAccount(`messages/${messageId}`)
  await page.getByRole('link', { name: /^req_/ }).waitFor()
})

test('shows viewers the log on a phone', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer', viewport })
  const { sentId } = await call(account)
  await openOfAccount('requests')

  await expect.poll(() => page.getByRole('main').getByRole('listitem').count()).toBe(4)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await findAccessibilityViolations(page)).toEqual([])
  await page.getByRole('listitem').filter({ hasText: '200' }).getByRole('link').click()
  await page.getByRole('dialog').getByText(sentId).waitFor()
  await page.getByText('kept for failures only').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

test('shows the filters behind a button with the number of active ones on a phone', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport: { width: 390, height: 844 } })
  await call(account)
  await openOfAccount('requests?outcome=failed')

  const button = page.getByRole('button', { name: 'Filters (1)' })
  await button.waitFor()
  expect(await page.getByLabel('Outcome').isVisible()).toBe(false)
  await button.click()
  await page.getByLabel('Outcome').selectOption('Succeeded')
  expect(await button.getAttribute('aria-expanded')).toBe('true')
})

test('explains a link to a request that is no longer recorded', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('requests?request=req_000000000000_1')

  await page.getByRole('dialog').getByText('this account has no recorded request with this ID').waitFor()
})
