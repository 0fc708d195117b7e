import { expect, test } from 'vitest'
import { sendableDemoTemplates } from '../../support/demo-templates.ts'
import { report, status } from '../../support/callbacks.ts'
import { png } from '../../support/media-files.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, useDashboard } from './support.ts'

const dashboard = useDashboard()

test('finds templates by name and status and explains why some cannot be sent', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  dashboard.server.simulator.templatesOf(account.wabaId).remove('invoice_ready', 'en')
  await account.template({
    name: 'invoice_ready',
    components: [
      { type: 'BODY', text: 'Pay.' },
      { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS', text: 'Pay' }] },
    ],
  })
  await openOfAccount('templates')
  const rows = page.getByRole('row')
  await page.getByRole('link', { name: 'spring_sale' }).waitFor()
  expect(await rows.count()).toBe(17)

  await page.getByLabel('Search by name').fill('order sh')
  await page.getByText('2 of 16 templates').waitFor()
  await page.getByLabel('Search by name').fill('')
  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Paused (1)' }).click()

  await page.getByText('1 of 16 templates').waitFor()
  await rows.getByText('Paused for low quality.').waitFor()
  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'All', exact: true }).click()
  await rows
    .filter({ hasText: 'Approved, not sendable' })
    .getByText('Cannot be sent: its button of type ORDER_DETAILS requires a parameter that Waybill does not know.')
    .waitFor()
})

test('opens a template by a click anywhere in its row', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates')
  await page.getByRole('row').filter({ hasText: 'spring_sale' }).getByRole('cell').last().click()

  await page.getByRole('dialog', { name: 'spring_sale' }).waitFor()
  expect(new URL(page.url()).searchParams.get('name')).toBe('spring_sale')
})

test('syncs the current templates from WhatsApp', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('templates')
  await page.getByRole('link', { name: 'spring_sale' }).waitFor()
  dashboard.server.simulator.templatesOf(account.wabaId).add({ name: 'brand_new', body: 'New.' })

  await page.getByRole('button', { name: 'Sync now' }).click()

  await page.getByRole('link', { name: 'brand_new' }).waitFor()
  await page.getByText('Synced 17 templates from WhatsApp, 15 approved.').waitFor()
  await page.getByText('Last synced just now').waitFor()
})

test('marks a template whose category WhatsApp will change', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  dashboard.server.simulator
    .templatesOf(account.wabaId)
    .set('order_shipped', 'en', { category: 'UTILITY', correct_category: 'MARKETING' })
  await openOfAccount('templates')
  await page.getByRole('button', { name: 'Sync now' }).click()

  const row = page.getByRole('row').filter({ hasText: 'Becomes Marketing' })
  await row.getByRole('link', { name: 'order_shipped' }).click()

  await page.getByRole('alert').getByText('WhatsApp announced this change.').waitFor()
})

test('shows the templates of another WhatsApp account', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const wabaId = `9${account.wabaId}`
  await account.addWhatsAppAccount({ wabaId, phoneNumberId: `6${account.phoneNumberId}` })
  dashboard.server.simulator.templatesOf(wabaId).add({ name: 'of_the_other', body: 'Other.' })
  await openOfAccount('templates')
  await page.getByRole('button', { name: 'Sync now' }).click()
  await page.getByText('Synced 17 templates from WhatsApp, 15 approved.').waitFor()

  await page.getByRole('combobox', { name: 'WhatsApp account' }).click()
  await page.getByRole('option', { name: '+15550100001', exact: true }).click()

  await page.getByRole('link', { name: 'of_the_other' }).click()
  await page.getByRole('figure').getByText('Other.').waitFor()
  expect(new URL(page.url()).searchParams.get('account')).toMatch(/^wa_/)
})

test('updates the preview with WhatsApp formatting', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await account.template({
    name: 'formatted',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'News' },
      {
        type: 'BODY',
        text: 'Hi *{{1}}*, _soon_ ~late~ ```{{2}}``` and 2*3*4.',
        example: { body_text: [['Ada', 'A-1']] },
      },
      { type: 'FOOTER', text: 'The shop' },
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Stop' }] },
    ],
  })
  await openOfAccount('templates?name=formatted&language=en')
  const preview = page.getByRole('figure', { name: 'Message preview' })
  await preview.locator('strong').getByText('Ada').waitFor()

  await page.getByLabel('{{1}}').fill('Grace & <b>co</b>')

  await preview.locator('strong').getByText('Grace & <b>co</b>').waitFor()
  await preview.getByText('and 2*3*4.').waitFor()
  expect(await preview.locator('em').textContent()).toBe('soon')
  expect(await preview.locator('s').textContent()).toBe('late')
  expect(await preview.locator('code').textContent()).toBe('A-1')
  expect(await preview.getByRole('listitem').allTextContents()).toEqual(['Stop'])
  await page.getByLabel('{{2}}').fill('')
  await preview.locator('mark').getByText('{{2}}').waitFor()
})

test('sends a test and links to its message', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('templates')
  await page.getByRole('link', { name: 'appointment_reminder' }).click()
  await page.getByLabel('{{first_name}}').fill('Grace')
  await page.getByLabel('Your phone number').fill('+34 600 111 222')
  await page.getByRole('button', { name: 'Send test' }).click()
  const link = page.getByRole('link', { name: 'View message' })
  await link.waitFor()

  const { items } = await account.trpc.message.list.query({})
  expect(items).toMatchObject([{ to: '34600111222', template: 'appointment_reminder' }])
  await page.getByRole('status').getByText('Sent', { exact: true }).first().waitFor()
  await link.click()

  await page.waitForURL(`**/settings/${account.accountId}/messages/${items[0]?.messageId}`)
  const sent = dashboard.server.simulator.requests.findLast(({ path }) => path === `/${account.phoneNumberId}/messages`)
  expect(JSON.stringify(sent?.body)).toContain('Grace')
})

test.each(sendableDemoTemplates)('sends a prefilled test of $name ($language)', async ({ name, language }) => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount(`templates?name=${name}&language=${language}`)
  await page.getByLabel('Your phone number').fill('34600111222')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('WhatsApp accepted the message').waitFor()

  expect((await account.trpc.message.list.query({})).items).toMatchObject([{ template: name, status: 'sent' }])
})

test('sends a test with a file from this device in the header', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('templates?name=invoice_ready&language=en')
  const choose = (name: string, buffer: Buffer) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/png', buffer })
  await choose('empty.png', Buffer.alloc(0))
  await page.getByRole('alert').getByText('This file is empty.').waitFor()
  await choose('invoice.png', png())
  await page.getByRole('status').getByText('invoice.png').waitFor()
  expect(await page.getByLabel('Header image link').count()).toBe(0)
  expect(await findAccessibilityViolations(page)).toEqual([])

  await page.getByLabel('Your phone number').fill('34600111222')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('WhatsApp accepted the message').waitFor()

  const sent = dashboard.server.simulator.requests.findLast(({ path }) => path === `/${account.phoneNumberId}/messages`)
  expect(JSON.stringify(sent?.body)).toMatch(/"image":\{"id":"\d+"/)
  await page.getByRole('button', { name: 'Remove file' }).click()
  expect(await page.getByLabel('Header image link').inputValue()).toBe('')
})

test('stops the upload of a file when its template is closed', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  const { promise: held, resolve } = Promise.withResolvers<void>()
  await page.route('**/settings/media?*', () => resolve())
  await openOfAccount('templates?name=invoice_ready&language=en')
  const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('/settings/media?'))
  await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png() })
  await held

  await page.keyboard.press('Escape')

  await stopped
})

test('shows the problem of a header, a button or a code beside its field', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  for (const { name, label, value, problem } of [
    { name: 'order_delayed', label: 'Header text', value: '', problem: 'Must not be empty.' },
    { name: 'invoice_ready', label: 'Header image link', value: 'a.png', problem: /^Must be a public http or https/ },
    { name: 'track_parcel', label: 'Button “Track” end of the URL', value: '', problem: 'Must not be empty.' },
    { name: 'login_code', label: 'One-time code', value: '1'.repeat(16), problem: 'Must have at most 15 characters.' },
  ]) {
    await openOfAccount(`templates?name=${name}&language=en`)
    await page.getByLabel('Your phone number').fill('34600111222')
    await page.getByLabel(label).fill(value)
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText(problem).waitFor()
    expect(await page.getByLabel(label).getAttribute('aria-invalid')).toBe('true')
  }
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('shows field errors of a test and links a failed test to its message', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('templates?name=order_shipped&language=en')
  const number = page.getByLabel('Your phone number')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Enter your phone number.').waitFor()

  await number.fill('0600111222')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText(/^Write the country code in place of the 0 at the start/).waitFor()
  expect(await number.getAttribute('aria-invalid')).toBe('true')

  // The account sends from a number in the United States.
  await number.fill('(415) 555-0123')
  await page.getByRole('button', { name: '+14155550123' }).click()
  expect(await number.inputValue()).toBe('+14155550123')
  expect(await page.getByText('Did you mean').count()).toBe(0)

  await number.fill('34600111222')
  await page.getByText('Country of the number: Spain').waitFor()
  await page.getByLabel('{{1}}').fill('')
  await page.getByLabel('{{2}}').fill('far     apart')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Must not be empty.').waitFor()
  await page.getByText('Must not contain more than four spaces in a row.').waitFor()
  expect(await page.getByLabel('{{1}}').getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel('{{2}}').getAttribute('aria-invalid')).toBe('true')

  // The simulator rejects this recipient with error 131026.
  await page.getByLabel('{{1}}').fill('Ada')
  await page.getByLabel('{{2}}').fill('A-1024')
  await number.fill('15550131026')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByRole('alert').getByText('The message cannot reach this recipient.').waitFor()
  const [failed] = (await account.trpc.message.list.query({ status: 'failed' })).items
  await page.getByRole('link', { name: 'View message' }).click()

  await page.waitForURL(`**/settings/${account.accountId}/messages/${failed?.messageId}`)
})

test('shows why a test failed that WhatsApp had accepted', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('templates?name=hello_world&language=en_US')
  await page.getByLabel('Your phone number').fill('34600111222')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('WhatsApp accepted the message').waitFor()

  const [sent] = (await account.trpc.message.list.query({})).items
  await report(dashboard.server, account, [status('failed', sent?.waMessageId ?? '', { errors: [{ code: 131_026 }] })])

  await page.getByRole('alert').getByText('The message cannot reach this recipient.').waitFor()
  expect(await page.getByText('WhatsApp accepted the message').count()).toBe(0)
})

test.each([
  {
    locale: 'en',
    label: 'Your phone number',
    send: 'Send test',
    says: /^This recipient has been on .* since \w+ \d+, \d+:\d\d:\d\d [AP]M \(reason: added manually/,
  },
  {
    locale: 'es',
    label: 'Tu número de teléfono',
    send: 'Enviar prueba',
    says: /^Este destinatario está en la lista .* añadido manualmente/,
  },
])('says in $locale why a number gets no test', async ({ locale, label, send, says }) => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await page.addInitScript(`localStorage.setItem('waybill-language', '${locale}')`)
  await account.trpc.suppression.add.mutate({ to: '34600111223', allMessages: true })
  await openOfAccount('templates?name=hello_world&language=en_US')
  await page.getByLabel(label).fill('34600111223')
  await page.getByRole('button', { name: send }).click()

  await page.getByText(says).waitFor()
  expect(await page.getByLabel(label).getAttribute('aria-invalid')).toBe('true')
})

test('shows a test without a response as pending', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates?name=hello_world&language=en_US')
  // The simulator drops the connection.
  await page.getByLabel('Your phone number').fill('15559000004')
  await page.getByRole('button', { name: 'Send test' }).click()

  await page.getByRole('alert').getByText('No response from WhatsApp').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'View message' }).click()
  await page.getByRole('heading', { level: 1, name: 'Message to +15559000004' }).waitFor()
  await page.getByRole('main').getByText('Pending', { exact: true }).waitFor()
})

test('removes a closed template from the URL and reports an unknown one', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates')
  await page.getByRole('link', { name: 'hello_world' }).click()
  await page.getByText('This template has no variables.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')

  await openOfAccount('templates?name=gone&language=en')
  await page.getByText('Template not found').waitFor()
})

test('links to WhatsApp accounts if there are none', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await dashboard.server.database.db
    .deleteFrom('whatsapp_accounts')
    .where('account_id', '=', account.accountId)
    .execute()
  await openOfAccount('templates')
  await page.getByRole('link', { name: 'Go to WhatsApp accounts' }).click()

  await page.getByRole('heading', { level: 1, name: 'WhatsApp accounts' }).waitFor()
})

test('lets a viewer see templates but neither sync nor send', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ role: 'viewer' })
  await openOfAccount('templates?name=order_shipped&language=en')
  await page.getByRole('figure').getByText('Hello Ada, your order A-1024 is on its way.').waitFor()
  const send = page.getByRole('button', { name: 'Send test' })
  expect(await send.getAttribute('aria-disabled')).toBe('true')
  expect(await page.getByLabel('Your phone number').isDisabled()).toBe(true)

  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.getByRole('button', { name: 'Sync now' }).getAttribute('aria-disabled')).toBe('true')
})

test.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('the page and its drawer are accessible at $width px', async (viewport) => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport })
  await account.addWhatsAppAccount()
  await openOfAccount('templates')
  await page.getByRole('link', { name: 'spring_sale' }).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])

  await page.getByRole('link', { name: 'delivery_feedback' }).click()
  await page.getByLabel('{{1}}').fill('')
  await page.getByLabel('Your phone number').fill('12')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText(/^This number has only 2 digits/).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})
