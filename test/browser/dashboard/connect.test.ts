import type { Page } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { announceChanges } from '../../../src/webhooks/alerts/announce-whatsapp-accounts.ts'
import { callbackFields } from '../../../src/whatsapp/callbacks/subscription.ts'
import { signedInOwner } from '../../support/user.ts'
import { type DashboardBrowser, findViolationsInBothSchemes, type SignedInVisit, useDashboard } from './support.ts'

const dashboard = useDashboard()

afterEach(() => dashboard.server.simulator.intercept(undefined))
const app = { id: '300000000000066', name: 'Shop app', secret: 'test-app-secret' }
let numbers = 0

/** A number that is not registered yet, and a token of an app whose secret the server knows. */
function newNumber(token: Parameters<DashboardBrowser['server']['simulator']['addToken']>[1] = {}) {
  const { simulator } = dashboard.server
  const id = String(++numbers).padStart(4, '0')
  const number = { phoneNumberId: `6100${id}`, wabaId: `6200${id}`, accessToken: `EAAwizard${id}` }
  simulator.addApp(app)
  simulator.addPhoneNumber({
    ...number,
    status: 'PENDING',
    displayPhoneNumber: '+34 600 111 222',
    verifiedName: 'Ada’s',
  })
  simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [number.wabaId], ...token })
  simulator.templatesOf(number.wabaId).add({ name: 'good_news', body: 'Good news, {{1}}.' })
  return number
}

/** An account without a WhatsApp account. */
async function emptyAccount(options: Parameters<DashboardBrowser['signedIn']>[0] = {}): Promise<SignedInVisit> {
  const visit = await dashboard.signedIn(options)
  await dashboard.server.deps.db
    .deleteFrom('whatsapp_accounts')
    .where('account_id', '=', visit.account.accountId)
    .execute()
  return visit
}

async function checkToken(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Check token' }).click()
}

const step = (page: Page, name: string) => page.getByRole('region', { name })

async function expectAccessible(page: Page): Promise<void> {
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
}

test.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('leads from an empty account to the first read message, at $width px', async (viewport) => {
  const number = newNumber()
  const { page, openOfAccount, account } = await emptyAccount({ viewport })
  await openOfAccount('whatsapp-accounts')
  await page.getByRole('button', { name: 'Connect a number' }).click()
  await checkToken(page, number.accessToken)
  await page.getByText('The token works').waitFor()
  await page.getByText('belongs to the app “Shop app”').waitFor()
  await page.getByText('+34600111222').waitFor()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Connect number' }).click()
  await page.getByRole('heading', { level: 1, name: '+34600111222' }).waitFor()
  await step(page, 'Subscription: done').waitFor()
  await page.getByRole('button', { name: 'Set callback URL' }).click()
  await step(page, 'Callback URL: done').waitFor()
  // A registration to come is no problem, also after a check.
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('Checked with WhatsApp.').waitFor()
  await page.getByText('Setup incomplete').waitFor()
  await step(page, 'Test message').getByText('Register the number first.').waitFor()
  expect(await page.getByRole('main').getByRole('alert').count()).toBe(0)
  await step(page, 'Registration').getByLabel('Two-step verification PIN').fill('135790')
  await page.getByRole('button', { name: 'Register number' }).click()
  await step(page, 'Registration: done').waitFor()
  await page.getByRole('button', { name: 'Sync templates' }).click()
  await step(page, 'Templates: done').waitFor()
  await expectAccessible(page)

  await page.getByLabel('Your phone number').fill('+34 600 333 444')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Read', { exact: true }).waitFor()
  await step(page, 'First status: done').waitFor()
  await page.getByText('Ready to send').waitFor()
  await expectAccessible(page)

  // Another browser, or this one after a restart, shows the same ticks.
  await page.reload()
  await page.getByText('7 of 7 steps done').waitFor()
  expect(dashboard.server.simulator.callbackOf(app.id)?.callbackUrl).toBe(`${dashboard.server.url}/webhooks/whatsapp`)
  const sent = await account.get('/api/v1/account/health')
  expect(sent.json().data).toMatchObject({ canSend: true })
  expect(dashboard.server.log.join('')).not.toContain(number.accessToken)
})

test.each([
  { token: 'EAAunknown', says: 'WhatsApp rejects this access token', does: 'create a new token' },
  {
    scopes: ['whatsapp_business_management'],
    says: 'It lacks the permission whatsapp_business_messaging',
    does: 'Create a new token',
  },
  { refuses: { 'GET phone_numbers': 80007 as const }, says: 'limit of API calls', does: 'Wait a few minutes' },
  { wabaIds: [], says: 'It has no access to a phone number', does: 'assign the account to the system user' },
])('explains an unusable token: $says', async ({ token, says, does, ...properties }) => {
  const number = newNumber(properties)
  const { page, openOfAccount } = await emptyAccount()
  await openOfAccount('whatsapp-accounts/connect')

  await checkToken(page, token ?? number.accessToken)

  const alert = page.getByRole('alert').filter({ hasText: 'This token cannot be used' })
  await alert.getByText(says).waitFor()
  await alert.getByText(does).waitFor()
  expect(await page.getByRole('button', { name: 'Connect number' }).count()).toBe(0)
  await expectAccessible(page)
})

test('explains a wrong PIN, a rejected subscription and an unreachable callback URL, and can repeat the steps', async () => {
  const number = newNumber({ refuses: { 'POST subscribed_apps': 200 } })
  dashboard.server.simulator.addPhoneNumber({ ...number, status: 'PENDING', pin: '123456' })
  const { page, openOfAccount } = await emptyAccount()
  await openOfAccount('whatsapp-accounts/connect')
  await checkToken(page, number.accessToken)
  await page.getByRole('button', { name: 'Connect number' }).click()

  await step(page, 'Subscription: to do').getByText('WhatsApp does not let this access token do that').waitFor()
  expect(await step(page, 'Subscription').getByText('Your Meta app is subscribed').count()).toBe(0)
  dashboard.server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [number.wabaId] })
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await step(page, 'Subscription: done').waitFor()

  await step(page, 'Registration').getByLabel('Two-step verification PIN').fill('999999')
  await page.getByRole('button', { name: 'Register number' }).click()
  await page.getByText("The PIN does not match the number's two-step verification PIN.").waitFor()
  await step(page, 'Registration').getByLabel('Two-step verification PIN').fill('123456')
  await page.getByRole('button', { name: 'Register number' }).click()
  await step(page, 'Registration: done').waitFor()

  const before = dashboard.server.deps.callbacks
  // Not earlier: the page still reads what it can set after the registration, and would not offer the button.
  await page.route(/configureCallback/, (route) => {
    dashboard.server.deps.callbacks = { ...before, baseUrl: undefined }
    return route.continue()
  })
  await page.getByRole('button', { name: 'Set callback URL' }).click()
  await page.getByText('WAYBILL_PUBLIC_URL is not an https address').waitFor()
  expect(await page.getByLabel('Verify token', { exact: true }).inputValue()).toBe('test-verify-token')
  await expectAccessible(page)
  dashboard.server.deps.callbacks = before
})

const top = async (what: ReturnType<Page['locator']>) => (await what.boundingBox())?.y ?? Number.NaN

test('explains where to find a token at Meta, and shows the result next to the button', async () => {
  const { page, openOfAccount } = await emptyAccount({ viewport: { width: 390, height: 844 } })
  await openOfAccount('whatsapp-accounts/connect')
  const systemUsers = page.getByRole('link', { name: 'Business settings → Users → System users' })
  expect(await systemUsers.getAttribute('href')).toBe('https://business.facebook.com/settings/system-users')
  await page.getByText('WhatsApp → API Setup').waitFor()

  const button = page.getByRole('button', { name: 'Check token' })
  expect((await top(button)) - (await top(page.getByLabel('Access token', { exact: true })))).toBeLessThan(100)
  await checkToken(page, 'EAAunknown')
  const result = page.getByRole('alert').filter({ hasText: 'cannot be used' })
  await result.waitFor()

  expect(await top(result)).toBeLessThan(await top(systemUsers))
})

interface Extent {
  scrollWidth: number
  clientWidth: number
  scrollHeight: number
  clientHeight: number
}

/** Whether the whole value of a field is visible. Runs in the browser. */
function isWhole({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Extent): boolean {
  return scrollWidth <= clientWidth && scrollHeight <= clientHeight + 1
}

test.each([
  {
    lacks: 'an https address',
    callbacks: { baseUrl: undefined },
    says: 'operator of this server to set WAYBILL_PUBLIC_URL',
  },
  { lacks: 'the app secret', callbacks: { appSecret: undefined }, says: 'select Add app secret below' },
])('shows all values to enter at Meta in full on a phone without $lacks', async ({ callbacks, says }) => {
  const before = dashboard.server.deps.callbacks
  dashboard.server.deps.callbacks = { ...before, ...callbacks }
  const viewport = { width: 390, height: 844 }
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport })
  await openOfAccount(`whatsapp-accounts/${account.whatsAppAccountId}`)

  await step(page, 'Callback URL: to do').getByText(says).waitFor()
  const fields = page.getByLabel('Webhook fields', { exact: true })
  expect((await fields.inputValue()).split('\n')).toEqual([...callbackFields])
  for (const name of ['Callback URL', 'Verify token', 'Webhook fields']) {
    await page.getByRole('button', { name: `Copy ${name}` }).waitFor()
    const field = page.getByLabel(name, { exact: true })
    await expect.poll(() => field.evaluate(isWhole), { message: name }).toBe(true)
  }
  await expectAccessible(page)
  dashboard.server.deps.callbacks = before
})

test('explains a rate limit between two steps, and keeps the entered values', async () => {
  const number = newNumber()
  const { page, openOfAccount } = await emptyAccount()
  await openOfAccount('whatsapp-accounts/connect')
  await checkToken(page, number.accessToken)
  await page.getByText('The token works').waitFor()
  await page.getByRole('button', { name: 'Connect number' }).click()
  await step(page, 'Subscription: done').waitFor()
  const token = { appId: app.id, wabaIds: [number.wabaId] }
  const refuses = { 'POST register': 80007, 'POST subscribed_apps': 80007 } as const
  dashboard.server.simulator.addToken(number.accessToken, { ...token, refuses })

  await page.getByRole('button', { name: 'Subscribe again' }).click()
  await step(page, 'Subscription').getByText('limit of API calls').waitFor()
  await step(page, 'Registration').getByLabel('Two-step verification PIN').fill('135790')
  await page.getByRole('button', { name: 'Register number' }).click()
  await step(page, 'Registration').getByText('limit of API calls').waitFor()
  await step(page, 'Registration').getByText('Wait a few minutes, then repeat this step.').waitFor()

  dashboard.server.simulator.addToken(number.accessToken, token)
  await page.getByRole('button', { name: /^Subscribe/ }).click()
  await step(page, 'Subscription: done').waitFor()
  await step(page, 'Registration').getByLabel('Two-step verification PIN').fill('135790')
  await page.getByRole('button', { name: 'Register number' }).click()
  await step(page, 'Registration: done').waitFor()
})

test('does not offer to register a number that is also used in the WhatsApp Business app', async () => {
  const number = newNumber()
  dashboard.server.simulator.addPhoneNumber({ ...number, status: 'CONNECTED', onBusinessApp: true })
  const { page, openOfAccount } = await emptyAccount()
  await openOfAccount('whatsapp-accounts/connect')
  await checkToken(page, number.accessToken)
  await page.getByText('Also in the WhatsApp Business app').waitFor()

  await page.getByRole('button', { name: 'Connect number' }).click()
  await page.getByRole('button', { name: 'Check now' }).click()
  await step(page, 'Registration: done').getByText('Registering it here would disconnect the app').waitFor()
  expect(await page.getByLabel('Two-step verification PIN').count()).toBe(0)

  await page.getByRole('main').getByRole('link', { name: 'WhatsApp accounts' }).click()
  await page.getByText('20 messages a second').waitFor()
})

test('every page says within 10 seconds that nothing can be sent', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('messages')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const { phoneNumberId, wabaId } = account
  dashboard.server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'another-token' })

  const send = { to: '34600111222', template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': 'A-1' } }
  expect((await account.post('/api/v1/message/send', send)).statusCode).toBe(400)

  const banner = page.getByRole('alert').filter({ hasText: 'Messages cannot be sent' })
  await banner.waitFor()
  await page.getByRole('link', { name: 'WhatsApp accounts needs attention' }).waitFor()
  await expectAccessible(page)
  await banner.getByRole('link', { name: 'See what to do' }).click()
  const token = step(page, 'Access token: to do')
  await token.getByText('WhatsApp rejects the access token').waitFor()
  await announceChanges(dashboard.server.deps)
  await token.getByText(/ Since /).waitFor()
  // The banner names the step of this page, not the page.
  await banner.getByRole('link', { name: 'Go to the step that fixes it' }).waitFor()
  expect(new URL(page.url()).hash).toBe('#token')
  await token.getByRole('button', { name: 'Activate' }).waitFor()

  await token.getByRole('button', { name: 'Replace token' }).click()
  dashboard.server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'EAAnext' })
  await page.getByLabel('New access token', { exact: true }).fill('EAAnext')
  await page.getByRole('button', { name: 'Replace', exact: true }).click()
  await step(page, 'Access token: done').waitFor()
  await banner.waitFor({ state: 'detached' })
})

test('shows a viewer the checklist without changes, and explains whom to contact', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  const { email } = await signedInOwner(dashboard.server, account.accountId)
  await openOfAccount('whatsapp-accounts/connect')
  await page.getByText('only owners can connect a number. Ask its owner:').waitFor()
  await page.getByRole('link', { name: email }).waitFor()
  expect(await page.getByLabel('Access token', { exact: true }).isDisabled()).toBe(true)
  await openOfAccount(`whatsapp-accounts/${account.whatsAppAccountId}`)
  await page.getByRole('link', { name: email }).waitFor()
  await expectAccessible(page)

  await step(page, 'Subscription: done').waitFor()
  const button = page.getByRole('button', { name: 'Check now' })
  expect(await button.getAttribute('aria-disabled')).toBe('true')
})
