import { randomInt } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { deactivateWhatsAppAccount } from '../../../src/whatsapp-accounts/change.ts'
import { checkNow } from '../../../src/whatsapp-accounts/health/check.ts'
import { findViolationsInBothSchemes, useDashboard } from './support.ts'

const dashboard = useDashboard()

function cardOf(page: Page, phoneNumberId: string) {
  return page.getByRole('region', { name: phoneNumberId })
}

/** A number that exists at WhatsApp but not in Waybill. */
function newNumber() {
  const number = {
    phoneNumberId: `7${randomInt(1e12, 9e12)}`,
    wabaId: `8${randomInt(1e12, 9e12)}`,
    // Unique, because WhatsApp responds differently to a token of another number.
    accessToken: `a-token-of-a-system-user-${randomInt(1e9)}`,
  }
  dashboard.server.simulator.addPhoneNumber({ ...number, displayPhoneNumber: '+34 600 111 222', verifiedName: 'Ada’s' })
  dashboard.server.simulator.templatesOf(number.wabaId).add({ name: 'good_news', body: 'Good news.' })
  return number
}

test('adds a WhatsApp account, syncs its templates and tests its token', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  const number = newNumber()
  await openOfAccount('whatsapp-accounts')
  await page.getByRole('button', { name: 'Add by ID' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Phone number ID').fill(number.phoneNumberId)
  await dialog.getByLabel('WABA ID').fill(number.wabaId)
  await dialog.getByLabel('Access token').fill(number.accessToken)
  await dialog.getByLabel('App secret (optional)').fill('a-secret-of-the-app')
  await dialog.getByRole('button', { name: 'Add account' }).click()
  await dialog.getByRole('button', { name: 'Sync templates' }).click()
  await dialog.getByText('17 synced from WhatsApp, 15 approved.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()

  const card = cardOf(page, number.phoneNumberId)
  await card.getByRole('button', { name: 'Test token' }).click()

  await card.getByText('The token is valid').waitFor()
  // The test also stores the verified name.
  await card.getByRole('heading', { name: 'Ada’s +34600111222' }).waitFor()
  expect(await card.getByText('High (green)').count()).toBe(2)
  expect(await page.getByText('a-token-of-a-system-user').count()).toBe(0)
})

test('shows field errors of a new WhatsApp account', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { wabaId } = account
  // A second token of the number: the first one keeps working.
  dashboard.server.simulator.addToken('the-token-of-this-number', { wabaIds: [wabaId] })
  await openOfAccount('whatsapp-accounts')
  await page.getByRole('button', { name: 'Add by ID' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Phone number ID').fill(account.phoneNumberId)
  await dialog.getByLabel('WABA ID').fill('+34600111222')
  await dialog.getByRole('button', { name: 'Add account' }).click()
  await dialog.getByText('Enter the access token.').waitFor()

  await dialog.getByLabel('Access token').fill('token')
  await dialog.getByRole('button', { name: 'Add account' }).click()
  await dialog.getByText(/Must be digits only, as WhatsApp Manager shows it/).waitFor()
  await dialog.getByLabel('WABA ID').fill(account.wabaId)
  await dialog.getByRole('button', { name: 'Add account' }).click()

  await dialog.getByText(/^WhatsApp rejects this access token/).waitFor()
  expect(await dialog.getByLabel('Access token').getAttribute('aria-invalid')).toBe('true')
  await dialog.getByLabel('Access token').fill('the-token-of-this-number')
  await dialog.getByRole('button', { name: 'Add account' }).click()

  await dialog.getByText(`Phone number ID ${account.phoneNumberId} is already in use.`).waitFor()
  expect(await dialog.getByLabel('Phone number ID').getAttribute('aria-invalid')).toBe('true')
})

test.each([
  { onboardingStatus: 'ONBOARDED', says: 'Marketing Messages API' },
  { onboardingStatus: 'ELIGIBLE', says: 'Cloud API, not onboarded' },
])(
  'shows where marketing templates are sent while the account is $onboardingStatus',
  async ({ onboardingStatus, says }) => {
    const { page, openOfAccount, account } = await dashboard.signedIn()
    dashboard.server.simulator.setMarketing(account.wabaId, { onboardingStatus })
    await checkNow(dashboard.server.deps, account)
    await openOfAccount('whatsapp-accounts')

    await cardOf(page, account.phoneNumberId).getByText(says, { exact: true }).waitFor()
  },
)

test('explains a rejected token until it is replaced', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const number = newNumber()
  await account.addWhatsAppAccount(number)
  await openOfAccount('whatsapp-accounts')
  const card = cardOf(page, number.phoneNumberId)
  const replaceToken = async (button: string, token: string) => {
    await card.getByRole('button', { name: button }).click()
    await page.getByLabel('New access token').fill(token)
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  dashboard.server.simulator.addPhoneNumber({ ...number, accessToken: 'the-next-token' })
  await card.getByRole('button', { name: 'Test token' }).click()

  await card.getByRole('alert').getByText('WhatsApp rejected the token').waitFor()
  await card
    .getByText(/access token/i)
    .first()
    .waitFor()
  await card.getByText('Inactive: rejected by WhatsApp').waitFor()

  await replaceToken('Replace token', 'the-next-token')
  await card.getByText('Setup incomplete').waitFor()
  await card.getByRole('button', { name: 'Test token' }).click()
  await card.getByText('The token is valid').waitFor()
})

test('tests the token of a deactivated account', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const number = newNumber()
  const { phoneNumberId } = number
  const id = await account.addWhatsAppAccount(number)
  const { deps, simulator } = dashboard.server
  await deactivateWhatsAppAccount(deps, { accountId: account.accountId, whatsAppAccountId: id })
  simulator.addPhoneNumber({ ...number, accessToken: 'the-next-token' })
  await openOfAccount('whatsapp-accounts')
  const card = cardOf(page, phoneNumberId)
  await card.getByRole('button', { name: 'Test token' }).click()

  await card.getByRole('alert').getByText('The test failed').waitFor()
  await card.getByText('The account stays deactivated.').waitFor()
  await card.getByRole('button', { name: 'Activate' }).waitFor()
})

test('removes the default account only after another becomes the default', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const number = newNumber()
  await account.addWhatsAppAccount(number)
  await openOfAccount('whatsapp-accounts')
  const choose = async (phoneNumberId: string, action: string) => {
    await cardOf(page, phoneNumberId).getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: action }).click()
    // Otherwise the closing menu could be mistaken for the next one.
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }
  await choose(account.phoneNumberId, 'Remove')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('Make another one the default first.').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await choose(number.phoneNumberId, 'Make default')
  await cardOf(page, number.phoneNumberId).getByText('Default', { exact: true }).waitFor()
  await choose(account.phoneNumberId, 'Remove')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()

  await cardOf(page, account.phoneNumberId).waitFor({ state: 'detached' })
})

test('deactivates and activates a WhatsApp account', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('whatsapp-accounts')
  const card = cardOf(page, account.phoneNumberId)
  await card.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Deactivate' }).click()
  await page.getByText(/Requests that don’t set accountId are rejected too/).waitFor()
  await page.getByRole('button', { name: 'Deactivate', exact: true }).click()

  await card.getByText('Deactivated', { exact: true }).waitFor()
  const send = { to: '34600111222', template: 'hello_world', language: 'en_US' }
  const refused = await account.post('/api/v1/message/send', send)
  expect(refused.json().error.code).toBe('NO_ACTIVE_ACCOUNT')

  await card.getByRole('button', { name: 'Activate' }).click()
  // The same state and the same next step as on the page of its setup.
  await card.getByText('Setup incomplete').waitFor()
  await card.getByRole('link', { name: /^Continue setup: / }).click()
  await page.getByText(/\d of 7 steps done\. Next: /).waitFor()
  await page.getByText('Setup incomplete').waitFor()
})

test('error notifications are accessible', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const whatsAppAccountId = await account.addWhatsAppAccount()
  await deactivateWhatsAppAccount(dashboard.server.deps, { accountId: account.accountId, whatsAppAccountId })
  await openOfAccount('whatsapp-accounts')
  await page.getByRole('button', { name: 'More' }).last().click()
  await page.getByRole('menuitem', { name: 'Make default' }).click()

  await page.getByText('This WhatsApp account is inactive and cannot send. Activate it first.').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
})

test('explains how to add the first WhatsApp account', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await dashboard.server.database.db
    .deleteFrom('whatsapp_accounts')
    .where('account_id', '=', account.accountId)
    .execute()
  await openOfAccount('whatsapp-accounts')

  await page.getByText('No WhatsApp account yet').waitFor()
  await page.getByRole('button', { name: 'Add by ID' }).waitFor()
})

test('lets a viewer see WhatsApp accounts but not change them', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  await openOfAccount('whatsapp-accounts')
  await cardOf(page, account.phoneNumberId).waitFor()

  for (const name of ['Add by ID', 'Test token', 'Replace secrets', 'More']) {
    const button = page.getByRole('button', { name })
    expect(await button.getAttribute('aria-disabled')).toBe('true')
    // Forced, because Playwright does not click disabled buttons.
    await button.click({ force: true })
  }
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await page.getByRole('menu').count()).toBe(0)
})

test("explains Meta's words on focus", async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('whatsapp-accounts')
  const card = cardOf(page, account.phoneNumberId)

  await card.getByRole('button', { name: 'WABA ID', exact: true }).focus()
  await page.getByRole('tooltip', { name: /^The WhatsApp Business Account at Meta/ }).waitFor()
  await card.getByRole('button', { name: 'Quality rating', exact: true }).focus()
  await page.getByRole('tooltip', { name: /^How WhatsApp rates the number/ }).waitFor()
  // What WhatsApp has not reported, and an app secret that is not set here, take no space.
  for (const name of ['App secret', 'Messaging limit', 'Marketing messages'])
    expect(await card.getByRole('button', { name, exact: true }).count()).toBe(0)
})

test.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('the page and its dialogs are accessible at $width px', async (viewport) => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport })
  const refused = await account.addWhatsAppAccount()
  await dashboard.server.database.db
    .updateTable('whatsapp_accounts')
    .set({ inactive_reason: 'Access token has expired' })
    .where('id', '=', refused)
    .execute()
  await openOfAccount('whatsapp-accounts')
  const card = cardOf(page, account.phoneNumberId)
  await card.getByRole('button', { name: 'Test token' }).click()
  await card.getByText('The token is valid').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])

  await card.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByText(/Waybill deletes/).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Add by ID' }).click()
  await page.getByRole('button', { name: 'Add account' }).click()
  await page.getByText('Enter the WABA ID.').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})
