import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { insertEvents } from '../../support/events.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import type { TestAccount } from '../../support/server.ts'
import { accept, respond, type ReceivedWebhook } from '../../support/webhook-receiver.ts'
import { useDeliveries } from './deliveries.ts'
import { report, send } from './sent-messages.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes } from './support.ts'

const { dashboard, receiver } = useDeliveries()

/** Sends a message and reports it as delivered, which emits an event. */
async function deliver(account: TestAccount): Promise<void> {
  await report(dashboard.server, await send(account), 'delivered')
}

function isSignedBy(secret: string, { body, headers }: ReceivedWebhook): boolean {
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined
  } catch {
    return false
  }
}

function sectionOf(page: Page, title: string) {
  return page.getByRole('region', { name: title, exact: true })
}

test('adds an endpoint, tests it and rotates its secret with an overlap', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('webhooks')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill('ftp://example.com')
  await dialog.getByRole('button', { name: 'Add endpoint' }).click()
  await dialog.getByText(/must be an https URL with a public host/i).waitFor()
  await dialog.getByLabel('URL').fill(`${receiver.url}/hooks?token=hush`)
  await dialog.getByLabel('Description').fill('Order system')
  await dialog.getByLabel('Deliveries per second').fill('50')
  await dialog.getByLabel('Concurrent requests').fill('5')
  await dialog.getByRole('button', { name: 'Add endpoint' }).click()
  const first = await dialog.getByRole('textbox', { name: 'Signing secret' }).inputValue()
  expect(first).toMatch(/^whsec_/)
  await dialog.getByRole('link', { name: 'How to verify events, in several languages' }).waitFor()
  await dialog.getByRole('button', { name: 'View endpoint' }).click()
  await page.getByText('Order system').waitFor()
  await page.getByText('50 per second, 5 concurrent').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain('hush')
  expect(await page.content()).not.toContain(first)

  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByText('Test event delivered').waitFor()
  const [test] = receiver.at('/hooks?token=hush')
  expect(test && isSignedBy(first, test)).toBe(true)

  await page.getByRole('button', { name: 'Rotate' }).click()
  await dialog.getByLabel('1 hour').check()
  await dialog.getByRole('button', { name: 'Rotate secret' }).click()
  await dialog.getByText(/^Until .*, events are also signed with the previous secret/).waitFor()
  const second = await dialog.getByRole('textbox', { name: 'Signing secret' }).inputValue()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await deliver(account)
  await expect.poll(() => receiver.at('/hooks?token=hush').length).toBe(2)
  const [, event] = receiver.at('/hooks?token=hush')
  expect(second).not.toBe(first)
  expect(event && [isSignedBy(first, event), isSignedBy(second, event)]).toEqual([true, true])

  const secret = sectionOf(page, 'Signing secret')
  await secret.getByText(/also signed with the previous secret/).waitFor()
  await secret.getByRole('button', { name: 'Reveal' }).click()
  expect(await secret.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toBe(second)
  await secret.getByRole('button', { name: 'Hide' }).click()
  await secret.getByRole('button', { name: 'Reveal' }).waitFor()
  expect(await page.content()).not.toContain(second)
})

test('edits an endpoint and keeps its secret', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { endpointId, secret } = await addEndpoint(dashboard.server.deps, account.accountId, {
    url: `${receiver.url}/before?token=hush`,
    events: ['message.failed'],
    headers: [['X-Token', 'hush']],
  })
  await openOfAccount(`webhooks/${endpointId}`)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Edit' }).click()
  expect(await dialog.getByLabel('URL').inputValue()).toBe(`${receiver.url}/before?token=hush`)
  await dialog.getByLabel('URL').fill('ftp://example.com')
  await dialog.getByText('The custom headers will be removed').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText(/must be an https URL with a public host/i).waitFor()

  await dialog.getByLabel('URL').fill(`${receiver.url}/after`)
  expect(await dialog.getByText('The custom headers will be removed').count()).toBe(0)
  await dialog.getByLabel('message.delivered').check()
  await dialog.getByLabel('Description').fill('Order system')
  await dialog.getByLabel('Replace').check()
  await dialog.getByLabel('New headers').fill('X-Token')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Write each header as').waitFor()
  await dialog.getByLabel('New headers').fill('X-Token: new\nX-Shop: 1')
  expect(await findAccessibilityViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Endpoint saved.').waitFor()
  await page.getByText('Order system').waitFor()

  await deliver(account)
  await expect.poll(() => receiver.at('/after').length).toBe(1)
  const [event] = receiver.at('/after')
  expect(event && isSignedBy(secret, event)).toBe(true)
  expect(event?.headers).toMatchObject({ 'x-token': 'new', 'x-shop': '1' })
})

test('rejects limits that are out of range, and keeps the input', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/limits` })
  await openOfAccount(`webhooks/${endpointId}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  const perSecond = dialog.getByLabel('Deliveries per second')
  await dialog.getByText('1 to 1,000. Leave empty for no limit.').first().waitFor()
  for (const typed of ['0', '99999', '2.5', '-3']) {
    await perSecond.fill(typed)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Enter a whole number from 1 to 1,000.').waitFor()
    expect(await perSecond.inputValue()).toBe(typed)
    await perSecond.fill('')
    await dialog.getByText('Enter a whole number from 1 to 1,000.').waitFor({ state: 'detached' })
  }
  await dialog.getByLabel('Concurrent requests').fill('007')
  await dialog.getByRole('button', { name: 'Save' }).click()

  await page.getByText('7 concurrent').waitFor()
})

test('shows why an endpoint fails, on its page and in the list', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  receiver.behave(respond(401), '/forbidden')
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, {
    url: `${receiver.url}/forbidden`,
  })
  await deliver(account)
  await openOfAccount(`webhooks/${endpointId}`)
  const alert = page.getByRole('alert').filter({ hasText: /^Failing since \d.*: HTTP 401; check the signing secret/ })
  await alert.getByText(/First failed attempt: .*:\d\d:\d\d.*Oldest undelivered event: created .*:\d\d:\d\d/).waitFor()
  const dialog = await openRedelivery(page)
  await dialog.getByText('Proposed: the oldest undelivered event.').waitFor()
  await dialog.getByText(/Deliveries that wait for their next attempt are sent now\./).waitFor()
  const warning = dialog.getByRole('alert').filter({ hasText: 'This endpoint still fails' })
  await warning.getByText(/^Failing since .*: HTTP 401/).waitFor()
  await warning.getByRole('button', { name: 'Send test event' }).click()
  await warning.getByText(/^Test event not delivered: HTTP 401 after/).waitFor()
  receiver.behave(respond(200), '/forbidden')
  await warning.getByRole('button', { name: 'Send test event' }).click()
  await warning.getByText('Test event delivered. The endpoint works again.').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  // Added later, so it would be listed first if failing endpoints were not.
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/fine` })

  await page.getByRole('link', { name: 'Webhooks' }).first().click()
  await expect.poll(() => page.getByRole('article').count()).toBe(2)
  const card = page.getByRole('article').first()
  await card.getByText(/^Failing since \d.*: HTTP 401; check the signing secret\./).waitFor()
  await card.getByText(/^0% of 1 attempt.*24 hours/).waitFor()
  await card.getByText('No recent successful deliveries').waitFor()
  await card.getByRole('link', { name: 'See the deliveries' }).click()
  await page.getByRole('region', { name: 'Deliveries' }).waitFor()
})

test('shows a failed attempt with its payload and retries the delivery', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  receiver.behave(respond(500), '/flaky')
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/flaky` })
  await openOfAccount(`webhooks/${endpointId}`)
  await page.getByText('No deliveries yet.').waitFor()
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByText('Test event not delivered').waitFor()

  await deliver(account)
  // The alert moves the list down.
  const failing = page.getByRole('alert').filter({ hasText: /Failing since|have failed since/ })
  await failing.waitFor()
  const deliveries = sectionOf(page, 'Deliveries')
  await deliveries.getByRole('button', { name: /^message.delivered.*Waiting.*HTTP 500.*1 attempt.*next/ }).click()
  await deliveries.getByText(/^Next attempt: .*:\d\d:\d\d/).waitFor()
  expect(await deliveries.getByRole('region', { name: 'Start of the response' }).textContent()).toBe('answer 500')
  await deliveries.getByRole('button', { name: 'Show payload' }).click()
  const payload = deliveries.getByRole('region', { name: 'Payload' })
  const body = receiver.at('/flaky').find(({ body }) => !body.includes('webhook.test'))?.body ?? ''
  expect(JSON.parse((await payload.textContent()) ?? '')).toEqual(JSON.parse(body))

  await deliveries.getByText('Failed', { exact: true }).click()
  await deliveries.getByText('None has failed for good; 1 is waiting for its next attempt.').waitFor()
  await deliveries.getByRole('button', { name: 'Show waiting' }).click()
  await deliveries.getByRole('button', { name: /^message.delivered.*Waiting/ }).click()
  await deliveries.getByText('All', { exact: true }).click()

  receiver.behave(accept, '/flaky')
  await deliveries.getByRole('button', { name: 'Retry now' }).click()
  await deliveries.getByRole('listitem').getByText('HTTP 200', { exact: true }).waitFor()
  await failing.waitFor({ state: 'detached' })
  await deliveries.getByText('Failed', { exact: true }).click()
  await deliveries.getByText('No failed deliveries.').waitFor()
})

test('groups failures by response and redelivers those of one group', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  receiver.behave(respond(500), '/grouped')
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/grouped` })
  for (let sent = 0; sent < 3; sent += 1) await deliver(account)
  await expect.poll(() => receiver.at('/grouped').length).toBe(3)
  receiver.behave(respond(401), '/grouped')
  await deliver(account)
  await expect.poll(() => receiver.at('/grouped').length).toBe(4)
  await openOfAccount(`webhooks/${endpointId}`)
  await page.getByRole('alert').filter({ hasText: 'Failing in several ways since' }).waitFor()

  const activity = sectionOf(page, 'Activity')
  const row = activity.getByRole('row', { name: /^HTTP 500/ })
  await expect.poll(() => row.getByRole('cell').first().textContent()).toBe('3')
  await activity.getByRole('img', { name: /^Attempts in the last 24 hours: 4, of which 4 failed/ }).waitFor()
  await activity.getByText('7 days').click()
  await activity.getByRole('img', { name: /^Attempts in the last 7 days: 4/ }).waitFor()
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  const value = await row.getByText('3', { exact: true }).boundingBox()
  expect(value && value.x + value.width).toBeLessThan(390)
  if (size) await page.setViewportSize(size)

  receiver.behave(accept, '/grouped')
  await row.getByRole('button', { name: /^Redeliver/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Redeliver events' })
  await dialog.getByText('3 deliveries waiting.').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await dialog.getByRole('checkbox').uncheck()
  await dialog.getByText('Nothing to redeliver.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Redeliver', exact: true }).isDisabled()).toBe(true)
  await dialog.getByRole('checkbox').check()
  await dialog.getByRole('button', { name: 'Redeliver 3' }).click()
  await dialog.getByText('3 deliveries queued. The list of deliveries').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()

  await expect.poll(() => receiver.at('/grouped').length).toBe(7)
  await openOfAccount('audit-log')
  await page
    .getByRole('cell', {
      name: new RegExp(
        `^Recovered deliveries to ${endpointId} \\(127\\.0\\.0\\.1:\\d+\\) since \\w+ \\d+, .*:\\d\\d\\s[AP]M that failed with "HTTP 500"`,
      ),
    })
    .waitFor()
})

test('shows deliveries that look the same in one row', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/same` })
  for (let sent = 0; sent < 4; sent += 1) await deliver(account)
  // All within one hour, at any time of the test run.
  const createdAt = new Date(Date.now() - 86_400_000)
  createdAt.setMinutes(30)
  await expect.poll(() => receiver.at('/same').length).toBe(4)
  const finished = dashboard.server.deps.db
    .updateTable('webhook_finished_deliveries')
    .where('endpoint_id', '=', endpointId)
  await expect
    .poll(async () => Number((await finished.set({ created_at: createdAt }).executeTakeFirst()).numUpdatedRows))
    .toBe(4)

  await openOfAccount(`webhooks/${endpointId}`)
  const deliveries = sectionOf(page, 'Deliveries')
  await deliveries.getByRole('button', { name: /^message.delivered.*Delivered.*4 deliveries.*HTTP 200/ }).click()
  const rows = deliveries.getByRole('button', { name: /^msg_.*1 attempt/ })
  await expect.poll(() => rows.count()).toBe(4)
  await rows.first().click()
  await deliveries.getByText('Attempt 1', { exact: true }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('keeps a delivery open that would share its row with a new one', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/read` })
  await deliver(account)
  await openOfAccount(`webhooks/${endpointId}`)
  const deliveries = sectionOf(page, 'Deliveries')
  const rows = deliveries.getByRole('button', { name: /^message.delivered.*Delivered/ })
  await rows.click()
  await deliveries.getByText('Attempt 1', { exact: true }).waitFor()

  await deliver(account)

  await expect.poll(() => rows.count()).toBe(2)
  expect(await deliveries.getByText('Attempt 1', { exact: true }).count()).toBe(1)
})

async function openRedelivery(page: Page) {
  await sectionOf(page, 'Deliveries').getByRole('button', { name: 'Redeliver…' }).click()
  return page.getByRole('dialog', { name: 'Redeliver events' })
}

test('redelivers the events that an endpoint missed', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await deliver(account)
  await deliver(account)
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/missed` })
  await openOfAccount(`webhooks/${endpointId}`)
  const dialog = await openRedelivery(page)
  await dialog.getByText('2 deliveries missed.').waitFor()
  await dialog.getByRole('button', { name: 'Redeliver 2' }).click()
  await dialog.getByText('2 deliveries queued. The list of deliveries shows which of them arrive.').waitFor()
  await expect.poll(() => receiver.at('/missed').length).toBe(2)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'detached' })

  await openRedelivery(page)
  await dialog.getByText('Nothing to redeliver.').waitFor()
  await dialog.getByLabel('Events created since').fill('2999-01-01T00:00')
  await dialog.getByText('The time must be in the past.').waitFor()
})

test('shows how many deliveries have waited since before the chosen time', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { deps } = dashboard.server
  receiver.behave(respond(500), '/early')
  const { endpointId } = await addEndpoint(deps, account.accountId, { url: `${receiver.url}/early` })
  const createdAt = new Date(Date.now() - 2 * 3_600_000)
  const event = { type: 'message.delivered', messageId: deps.newId('msg'), payload: '{}', createdAt }
  await insertEvents(deps.db, [{ ...event, accountId: account.accountId, id: deps.newId('evt', createdAt) }], () =>
    deps.newId('dlv'),
  )
  await deliver(account)
  await expect.poll(() => receiver.at('/early').length).toBeGreaterThanOrEqual(2)

  await openOfAccount(`webhooks/${endpointId}`)
  const dialog = await openRedelivery(page)
  const sinceHoursAgo = (hours: number) =>
    dialog.getByLabel('Events created since').fill(new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 16))
  // Initially, the whole period.
  await dialog.getByText('2 deliveries waiting.').waitFor()
  await sinceHoursAgo(1)
  await dialog.getByText('1 delivery waiting. 1 more waits since an earlier time.').waitFor()
  await dialog
    .getByLabel('Events created since')
    .fill(new Date(createdAt.getTime() - 60_000).toISOString().slice(0, 16))
  await dialog.getByText('2 deliveries waiting.', { exact: true }).waitFor()
})

test('stops a redelivery between two batches and starts it again', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await deliver(account)
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/long` })
  await openOfAccount(`webhooks/${endpointId}`)
  const dialog = await openRedelivery(page)
  // Simulates a redelivery of several batches whose second batch is slow.
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  let parts = 0
  await page.route('**/settings.webhook.recover', async (route) => {
    if (++parts > 1) await stopped
    const since = Date.parse(route.request().postDataJSON().since)
    const reachedAt = new Date((since + Date.now()) / 2).toISOString()
    await route.fulfill({ json: { result: { data: { recovered: 5000, reachedAt, next: 'more' } } } })
  })

  await dialog.getByRole('button', { name: 'Redeliver 1' }).click()
  await dialog.getByText(/^5,000 deliveries queued, events up to/).waitFor()
  expect(Number(await dialog.getByRole('progressbar').getAttribute('aria-valuenow'))).toBeCloseTo(50, 0)
  await dialog.getByRole('button', { name: 'Stop' }).click()
  stop()
  await dialog.getByText(/^Stopped: 10,000 deliveries queued.*start again/).waitFor()
  expect(parts).toBe(2)

  await page.unroute('**/settings.webhook.recover')
  await dialog.getByRole('button', { name: 'Start again' }).click()
  await dialog.getByText('1 delivery queued. The list of deliveries').waitFor()
})

test('disables, enables and removes an endpoint', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/paused` })
  await openOfAccount('webhooks')
  await page.getByRole('article').getByRole('link').click()
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Disable' }).click()
  await dialog.getByRole('button', { name: 'Disable endpoint' }).click()
  await page.getByText('Disabled by a user.').waitFor()

  await deliver(account)
  await page.getByText('1 delivery', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Enable' }).click()
  await expect.poll(() => receiver.at('/paused').length).toBe(1)

  await page.getByRole('button', { name: 'Remove endpoint' }).click()
  await dialog.getByRole('button', { name: 'Remove endpoint' }).click()
  await page.getByText('No endpoints yet').waitFor()
  await page.getByText('Endpoint removed.').waitFor()
})

test('lets a viewer see an endpoint but not change it', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  const { endpointId } = await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/seen` })
  await openOfAccount(`webhooks/${endpointId}`)
  await page.getByRole('button', { name: 'Reveal' }).waitFor()

  const names = ['Disable', 'Edit', 'Send test event', 'Reveal', 'Rotate', 'Redeliver…', 'Remove endpoint']
  const disabled = names.map((name) =>
    page.getByRole('button', { name, exact: true, disabled: true }).getAttribute('aria-disabled'),
  )
  expect(await Promise.all(disabled)).toEqual(names.map(() => 'true'))
})

test.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('webhook pages are accessible at $width px', async (viewport) => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport })
  const overflow = () => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  await openOfAccount('webhooks')
  await page.getByText('No endpoints yet').waitFor()
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill(`${receiver.url}/a/rather/long/path/of/an/application?token=hush`)
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  receiver.behave(respond(500), '/a/rather/long/path/of/an/application?token=hush')
  await dialog.getByRole('button', { name: 'Add endpoint' }).click()
  await dialog.getByRole('textbox', { name: 'Signing secret' }).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'detached' })
  await deliver(account)
  await page.getByText('1 delivery waiting').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await overflow()).toBe(0)

  await page
    .getByRole('article')
    .getByRole('link', { name: /127\.0\.0\.1/ })
    .click()
  // The chart refreshes every 15 seconds. Its table of failures and the list then move what is below away from a click.
  await page.getByRole('img', { name: /^Attempts in the last 24 hours: 1/ }).waitFor()
  await page.getByRole('button', { name: /^message.delivered/ }).waitFor()
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByText('Test event not delivered').waitFor()
  await page.getByRole('button', { name: 'Reveal' }).click()
  await page.getByRole('button', { name: 'Hide' }).waitFor()
  await page.getByRole('button', { name: /^message.delivered/ }).click()
  // The retry after five seconds adds a row above the button, which can move it away from a click.
  const hide = page.getByRole('button', { name: 'Hide payload' })
  await expect
    .poll(async () => {
      if (!(await hide.isVisible())) await page.getByRole('button', { name: 'Show payload' }).click({ timeout: 1_000 })
      return hide.isVisible()
    })
    .toBe(true)
  await page.getByRole('region', { name: 'Payload' }).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await overflow()).toBe(0)
  await page.getByRole('button', { name: 'Rotate' }).click()
  await dialog.getByLabel('24 hours').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
})
