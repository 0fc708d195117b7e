import { expect, test } from 'vitest'
import { claimEmails, openEmail } from '../../../src/platform/email/outbox.ts'
import { createMailTransport } from '../../../src/platform/email/transport.ts'
import { announceEndpoints } from '../../../src/webhooks/alerts/announce-endpoints.ts'
import { getAlertSettings, updateAlertRules } from '../../../src/webhooks/alerts/settings.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { signedInOwner } from '../../support/user.ts'
import { startSmtpServer } from '../../support/smtp.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'
import { forFile } from '../../support/lifetime.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, useDashboard } from './support.ts'

const chat = await forFile(startWebhookReceiver())
const smtp = await forFile(startSmtpServer())
const dashboard = useDashboard({ deps: { mail: createMailTransport(smtp.config) } })

/** Adds an endpoint that has failed for ten minutes, and announces it. */
async function failEndpoint(accountId: string): Promise<void> {
  const { deps } = dashboard.server
  const { endpointId } = await addEndpoint(deps, accountId, { url: 'http://127.0.0.1:9/' })
  await deps.db
    .updateTable('webhook_endpoints')
    .set({ failing_since: new Date(Date.now() - 600_000) })
    .where('id', '=', endpointId)
    .execute()
  await announceEndpoints(deps)
}

test('posts a test message to a chat, and removes the chat', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const path = `/services/${account.accountId}`
  await openOfAccount('alerts')
  await page.getByLabel('Format').selectOption('Slack')
  await page.getByLabel('Webhook URL', { exact: true }).fill(chat.url + path)
  await page.getByRole('button', { name: 'Save chat' }).click()

  await page.getByText(/^Alerts are posted to Slack at 127\.0\.0\.1/).waitFor()
  await page.getByRole('button', { name: 'Send test message' }).click()
  await page.getByText('Test message posted.').waitFor()
  expect(chat.at(path)).toHaveLength(1)
  expect(await page.content()).not.toContain(path)

  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove chat' }).click()
  await page.getByRole('button', { name: 'Save chat' }).waitFor()
})

test('counts open alerts in the navigation until they are acknowledged', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await failEndpoint(account.accountId)
  await openOfAccount('overview')
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Alerts/ })
  await expect.poll(() => link.textContent()).toBe('Alerts11 open alert')
  expect(await findAccessibilityViolations(page)).toEqual([])
  await link.click()
  await page.getByRole('button', { name: /^Acknowledge/ }).click()
  await expect.poll(() => link.textContent()).toBe('Alerts')
})

test('lists a template that was already paused when its number was connected', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await dashboard.server.deps.db
    .updateTable('templates')
    .set({ status: 'PAUSED', announced_status: 'PAUSED' })
    .where('account_id', '=', account.accountId)
    .where('name', '=', 'order_shipped')
    .where('language', '=', 'en')
    .execute()

  await openOfAccount('alerts')
  await page.getByRole('heading', { name: 'Problems without an alert' }).waitFor()
  expect(await page.getByRole('heading', { name: 'No alerts' }).count()).toBe(0)
  expect(await findAccessibilityViolations(page)).toEqual([])
  await page.getByRole('link', { name: /^The template order_shipped \(en\) cannot be sent/ }).click()
  await page.waitForURL(/templates\?.*name=order_shipped/)
})

test('lists the alerts first, then where they are sent, the problems and the rules', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('alerts')
  await page.getByRole('heading', { level: 2, name: 'Email' }).waitFor()
  expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
    'Open and recent alerts',
    'Email',
    'Chat',
    'Alert types',
    'Rules',
  ])
})

test('lists the problems with their severity, and those that are turned off', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await updateAlertRules(dashboard.server.deps, account.accountId, { deliveryLagSeconds: null })
  await openOfAccount('alerts')
  const section = page.getByRole('region', { name: 'Alert types' })
  await section.getByText('Critical once it is disabled.').waitFor()

  const problems = await section.getByRole('listitem').allInnerTexts()
  expect(problems.map((text) => text.split(/\s*\n\s*/)[0])).toEqual([
    'Critical',
    'Warning',
    'Warning',
    'Warning',
    'Warning',
    'Warning',
    'Warning',
    'Warning',
    'Warning',
    'Off',
    'Critical',
  ])
  await section.getByText(/Other problems .* a wrong callback URL/).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('sends a test email to a member, a few at a time', async () => {
  const { page, openOfAccount, email } = await dashboard.signedIn({ role: 'viewer' })
  await openOfAccount('alerts')
  const send = page.getByRole('button', { name: 'Send test email' })
  await send.click()
  await page.getByText(`A test email is on its way to ${email}.`).waitFor()
  await send.click()
  await send.click()
  await send.click()

  await page.getByText('Too many test emails. Try again later.').waitFor()
  const { db, secrets } = dashboard.server.deps
  const waiting = (await claimEmails(db, { limit: 100, leaseSeconds: 60 })).filter(
    ({ recipient }) => recipient === email,
  )
  expect(waiting.map((one) => openEmail(secrets, one).subject)).toEqual(Array(3).fill('Test email from Waybill'))
})

test('shows the problem of a chat URL at its field', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('alerts')
  const url = page.getByLabel('Webhook URL', { exact: true })
  await page.getByRole('button', { name: 'Save chat' }).click()
  await page.getByText('Enter the webhook URL of the channel.').waitFor()

  await url.fill('https://chat.example.com/hooks/1')
  await page.getByRole('button', { name: 'Save chat' }).click()

  await expect.poll(() => url.getAttribute('aria-invalid')).toBe('true')
  expect(await url.inputValue()).toBe('https://chat.example.com/hooks/1')
})

test('saves rules and quiet hours', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('alerts')
  await page.getByLabel('Failure rate in percent').fill('35')
  await page.getByLabel('Minimum number of messages').fill('5')
  await page.getByLabel('Messages without a status').fill('3')
  expect(await page.getByLabel('Delay in minutes').inputValue()).toBe('5')
  await page.getByLabel('Delay in minutes').fill('10')
  await page.getByRole('switch', { name: 'Quiet hours' }).click()
  await page.getByLabel('From').fill('21:30')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Barcelona')
  await page.getByRole('option', { name: 'Europe/Madrid' }).click()
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByText('Alert rules saved.').waitFor()

  await page.reload()

  await expect.poll(() => page.getByLabel('From').inputValue()).toBe('21:30')
  expect(await page.getByLabel('Failure rate in percent').inputValue()).toBe('35')
  expect(await page.getByLabel('Minimum number of messages').inputValue()).toBe('5')
  expect(await page.getByLabel('Delay in minutes').inputValue()).toBe('10')
  expect(await page.getByLabel('Messages without a status').inputValue()).toBe('3')
  const { failureRateMinMessages, deliveryLagSeconds, noStatusMinMessages } = await getAlertSettings(
    dashboard.server.deps,
    account.accountId,
  )
  expect({ failureRateMinMessages, deliveryLagSeconds, noStatusMinMessages }).toEqual({
    failureRateMinMessages: 5,
    deliveryLagSeconds: 600,
    noStatusMinMessages: 3,
  })
  expect(await page.getByRole('combobox', { name: 'Time zone' }).inputValue()).toBe('Europe/Madrid')

  await page.getByLabel('Failure rate in percent').fill('40')
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByText('Alert rules saved.').waitFor()
  await openOfAccount('audit-log')
  await page.getByRole('cell', { name: 'Changed failure rate of alerts', exact: true }).waitFor()
})

test('keeps what was typed if the list of time zones cannot be loaded', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await page.route(/\/time-zone-select-[^/]*\.js/, (route) => route.abort())
  await openOfAccount('alerts')
  await page.getByLabel('Failure rate in percent').fill('35')
  await page.getByRole('switch', { name: 'Quiet hours' }).click()
  await page.getByText('The server may have been updated').waitFor()

  expect(await page.getByLabel('Failure rate in percent').inputValue()).toBe('35')
  await page.getByLabel('From').fill('21:30')
})

test('keeps rules that somebody else changed meanwhile', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const rules = () => getAlertSettings(dashboard.server.deps, account.accountId)
  await openOfAccount('alerts')
  const rate = page.getByLabel('Failure rate in percent')
  await rate.waitFor()
  await updateAlertRules(dashboard.server.deps, account.accountId, { noStatusMinMessages: 7 })

  // After the first change, the page has loaded the rules again.
  for (const percent of [35, 36]) {
    await rate.fill(String(percent))
    await page.getByRole('button', { name: 'Save rules' }).click()
    await expect.poll(async () => (await rules()).failureRatePercent).toBe(percent)
    await page
      .getByText('Alert rules saved.')
      .nth(percent - 35)
      .waitFor()
  }

  expect((await rules()).noStatusMinMessages).toBe(7)
})

test('shows the problems of invalid rules at their fields', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('alerts')
  const rate = page.getByLabel('Failure rate in percent')
  await rate.fill('250')
  await page.getByRole('button', { name: 'Save rules' }).click()

  await page.getByText('Enter a whole number from 1 to 100.').waitFor()
  expect(await rate.inputValue()).toBe('250')
  expect(await rate.getAttribute('aria-invalid')).toBe('true')
  await rate.fill('20')
  await page.getByRole('switch', { name: 'Quiet hours' }).click()
  await page.getByLabel('From').fill('21:30')
  await page.getByLabel('Until', { exact: true }).fill('21:30')
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByText('must differ from the start').waitFor()
  expect(await page.getByLabel('Until', { exact: true }).getAttribute('aria-invalid')).toBe('true')
})

test('lists alerts until they are acknowledged', async () => {
  const { page, openOfAccount, account, email } = await dashboard.signedIn()
  await failEndpoint(account.accountId)
  await openOfAccount('alerts')

  await page.getByRole('button', { name: /^Acknowledge: / }).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await page.getByRole('button', { name: /^Acknowledge: / }).click()

  await page.getByText(`acknowledged by ${email}`).waitFor()
  expect(await page.getByRole('button', { name: /^Acknowledge: / }).count()).toBe(0)
})

test('shows viewers the alerts on a phone, without letting them change anything', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer', viewport })
  await failEndpoint(account.accountId)
  await openOfAccount('alerts')

  const acknowledge = page.getByRole('button', { name: /^Acknowledge: / })
  await acknowledge.waitFor()
  expect(await acknowledge.getAttribute('aria-disabled')).toBe('true')
  expect(await page.getByLabel('Webhook URL', { exact: true }).isDisabled()).toBe(true)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('lets each member stop alerts by email, and shows owners who gets them', async () => {
  const { page, openOfAccount, account, email } = await dashboard.signedIn()
  const other = await signedInOwner(dashboard.server, account.accountId, { role: 'viewer' })
  await openOfAccount('alerts#email')
  const section = page.getByRole('region', { name: 'Email' })
  await section.getByRole('listitem').filter({ hasText: other.email }).waitFor()
  const own = section.getByRole('switch', { name: 'Send me the alerts of this account' })
  expect(await own.isChecked()).toBe(true)

  await own.click()
  await page.getByText('You get no alerts by email.').waitFor()

  await section.getByText(`Turned off by ${email}.`).waitFor()
  expect(await section.getByRole('listitem').allTextContents()).toEqual([other.email])
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await page.reload()
  await expect.poll(() => own.isChecked()).toBe(false)
})

test('lets a viewer stop their own alerts by email, without showing the other members', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  const other = await signedInOwner(dashboard.server, account.accountId)
  await openOfAccount('alerts')
  await page.getByRole('switch', { name: 'Send me the alerts of this account' }).click()

  await page.getByText('You get no alerts by email.').waitFor()
  expect(await page.getByText(other.email).count()).toBe(0)
})
