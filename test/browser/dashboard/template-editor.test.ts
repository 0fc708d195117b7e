import { beforeAll, expect, test } from 'vitest'
import { announceTemplateChanges } from '../../../src/webhooks/alerts/announce-templates.ts'
import { changeCallback, post, templateUpdate } from '../../support/callbacks.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes, useDashboard } from './support.ts'

const dashboard = useDashboard()

beforeAll(() => {
  const { server } = dashboard
  server.simulator.reportTo({ url: `${server.url}/webhooks/whatsapp`, appSecret: 'test-app-secret' })
})

/** Ends the review of a Spanish template whose review does not end by itself. */
async function approve(wabaId: string, name: string): Promise<void> {
  const { server } = dashboard
  server.simulator.templatesOf(wabaId).set(name, 'es', { status: 'APPROVED' })
  const approval = { message_template_name: name, message_template_language: 'es' }
  const value = { ...templateUpdate('APPROVED'), ...approval }
  await post(server, changeCallback(wabaId, 'message_template_status_update', value))
}

test('goes from the gallery through editor and review to a sent message', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('templates')
  await page.getByRole('link', { name: 'New template' }).click()
  await page.getByRole('combobox', { name: 'Language' }).click()
  await page.getByRole('option', { name: 'Spanish (es)' }).click()
  await page.getByRole('link', { name: 'Use Appointment reminder' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Cita mañana')
  await page.getByText('Must have lower-case letters').first().waitFor()
  await page.getByLabel('Name', { exact: true }).fill('cita de maria pending')
  await page.getByLabel('Example of {{1}}').fill('María')
  await page.getByRole('figure').getByText('Hola María, te recordamos tu cita').waitFor()
  await page.getByLabel('Footer').fill('Peluquería Ada')
  await page.getByRole('figure').getByText('Peluquería Ada').waitFor()

  await page.getByRole('button', { name: 'Submit for review' }).click()

  await page.getByRole('dialog', { name: 'cita_de_maria_pending' }).getByText('WhatsApp is reviewing it.').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await approve(account.wabaId, 'cita_de_maria_pending')
  await page.getByRole('dialog').getByText('Approved', { exact: true }).first().waitFor()
  expect(await announceTemplateChanges(dashboard.server.deps)).toBeGreaterThan(0)
  await page.getByLabel('Your phone number').fill('34600111222')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('WhatsApp accepted the message').waitFor()
  expect(
    dashboard.server.simulator
      .templatesOf(account.wabaId)
      .all()
      .find(({ name }) => name === 'cita_de_maria_pending'),
  ).toMatchObject({ language: 'es', status: 'APPROVED', category: 'UTILITY' })
})

test('leads back from the gallery and the editor to the templates of the same WhatsApp account', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { accountId, whatsAppAccountId } = account
  for (const editing of ['new', 'edit']) {
    await openOfAccount(`templates/${editing}?account=${whatsAppAccountId}`)
    await page.getByRole('main').getByRole('link', { name: 'Templates', exact: true }).click()
    await page.waitForURL(`**/${accountId}/templates?account=${whatsAppAccountId}`)
  }
})

test('names a variable, keeps its example, and adds the next one with a name', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates/edit?gallery=appointment_reminder&language=es')
  const body = page.getByLabel('Body', { exact: true })
  await body.fill('Hola {{1}}, nos vemos.')
  await page.getByLabel('Example of {{1}}').fill('María')

  await page.getByLabel('Name of {{1}}').fill('Customer name')
  await page.getByLabel('Name of {{1}}').blur()

  expect(await body.inputValue()).toBe('Hola {{customer_name}}, nos vemos.')
  expect(await page.getByLabel('Example of {{customer_name}}').inputValue()).toBe('María')
  await page.getByRole('figure').getByText('Hola María, nos vemos.').waitFor()
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.getByLabel('Name of {{variable_2}}').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('says why a variable cannot have a name, and keeps what was typed', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates/edit')
  const body = page.getByLabel('Body', { exact: true })
  await body.fill('Hello {{first_name}}, your order {{order}} is ready.')

  const name = page.getByLabel('Name of {{order}}')
  await name.fill('№ 1')
  await name.blur()
  await page.getByText('WhatsApp allows letters from a to z, digits and underscores, and a letter first.').waitFor()
  expect(await name.inputValue()).toBe('№ 1')
  expect(await findAccessibilityViolations(page)).toEqual([])
  await name.fill('First name')
  await name.blur()
  await page.getByText('Another variable has this name.').waitFor()

  await name.fill('order_number')
  await name.blur()
  await page.getByLabel('Name of {{order_number}}').waitFor()
  expect(await page.getByText('Another variable has this name.').count()).toBe(0)
  expect(await body.inputValue()).toBe('Hello {{first_name}}, your order {{order_number}} is ready.')
})

test('says before the submission that a gallery template has the name of an existing one', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  const submissions = dashboard.server.simulator.requests.length

  await openOfAccount('templates/edit?gallery=order_shipped&language=en')
  const taken = page.getByText('There is already a template order_shipped in this language. Choose another name.')
  await taken.waitFor()
  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByText('WhatsApp would reject this template').waitFor()
  expect(dashboard.server.simulator.requests.length).toBe(submissions)

  await page.getByLabel('Name', { exact: true }).fill('order_shipped_2')
  await taken.waitFor({ state: 'detached' })
})

test('shows every problem at its field without calling WhatsApp', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates/edit')
  const before = dashboard.server.simulator.requests.length
  await page.getByLabel('Body').fill('Hello {{1}}')
  await page.getByText('Must not end with a variable').waitFor()
  await page.getByRole('button', { name: 'Add button' }).click()
  await page.getByRole('menuitem', { name: 'Open a website' }).click()

  await page.getByRole('button', { name: 'Submit for review' }).click()

  const problems = page.getByRole('alert').filter({ hasText: 'WhatsApp would reject this template' })
  for (const path of ['Name', 'Body', 'Body, example of {{1}}', 'Button 1, URL'])
    await problems.getByText(path, { exact: true }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  expect(dashboard.server.simulator.requests).toHaveLength(before)
})

test('edits a rejected template, copies it and deletes it', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await account.template({ name: 'note', status: 'REJECTED', rejected_reason: 'INVALID_FORMAT', body: 'A note.' })
  await openOfAccount('templates?name=note&language=en')
  await page
    .getByText(/WhatsApp rejected it: Invalid format\. Check the spelling.* Edit it and submit it again/)
    .waitFor()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Body').fill('A better note.')
  await page.getByRole('button', { name: 'Submit changes' }).click()
  await page.getByRole('figure').getByText('A better note.').waitFor()

  await page.getByRole('link', { name: 'Duplicate' }).click()
  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByRole('dialog', { name: 'note_copy' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete template' }).click()
  await page.getByText('Deleted note_copy (en).').waitFor()

  const names = dashboard.server.simulator
    .templatesOf(account.wabaId)
    .all()
    .map(({ name }) => name)
  expect(names).toContain('note')
  expect(names).not.toContain('note_copy')
})

test('adds a language to a template', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await account.template({ name: 'note', body: 'A note.' })
  await openOfAccount('templates?name=note&language=en')

  await page.getByRole('link', { name: 'Add language' }).click()
  await page.getByLabel('Body').fill('Una nota.')
  await page.getByRole('combobox', { name: 'Language' }).fill('span')
  await page.getByRole('option', { name: 'Spanish (es)' }).click()
  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByRole('dialog', { name: 'note' }).waitFor()

  const languages = dashboard.server.simulator
    .templatesOf(account.wabaId)
    .all()
    .filter(({ name }) => name === 'note')
    .map(({ language }) => language)
  expect(languages.toSorted()).toEqual(['en', 'es'])
})

/** One red pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

test('uploads the sample of a header from this device, with progress and a preview', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await openOfAccount('templates/edit')
  await page.getByLabel('Name', { exact: true }).fill('photo_ready')
  await page.getByRole('combobox', { name: 'Header' }).click()
  await page.getByRole('option', { name: 'Image' }).click()
  const input = page.locator('input[type=file]')
  const choose = (name: string, mimeType: string, buffer: Buffer) => input.setInputFiles({ name, mimeType, buffer })
  const problem = page.getByRole('alert')

  await choose('notes.txt', 'text/plain', Buffer.from('Notes'))
  await problem.getByText('Choose a JPEG or PNG image.').waitFor()
  await choose('poster.png', 'image/png', Buffer.alloc(6 * 1024 * 1024))
  await problem.getByText('This file has 6 MB. Choose one of at most 5 MB.').waitFor()
  await choose('renamed.png', 'image/png', Buffer.from('%PDF-1.7 a document'))
  await problem.getByText('Must be a JPEG or PNG image. The file type is detected').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  const held = Promise.withResolvers<void>()
  await page.route('**/settings/samples?*', async (route) => {
    await held.promise
    await route.continue()
  })
  await choose('shop.png', 'image/png', picture)
  await page.getByRole('button', { name: 'Cancel upload' }).waitFor()
  expect(await page.getByRole('progressbar', { name: 'Upload of shop.png' }).count()).toBe(1)
  expect(await problem.count()).toBe(0)
  await page.getByLabel('Body').fill('Your photo is ready.')
  expect(await findAccessibilityViolations(page)).toEqual([])
  held.resolve()
  await page.getByRole('status').getByText('70 bytes, uploaded').waitFor()
  await page.getByRole('figure').getByRole('img', { name: 'shop.png' }).waitFor()
  await expect.poll(() => page.evaluate(`document.querySelector('[role=figure] img').naturalWidth`)).toBe(1)
  expect(await page.getByLabel('Body').inputValue()).toBe('Your photo is ready.')

  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByRole('dialog', { name: 'photo_ready' }).waitFor()
  const made = dashboard.server.simulator
    .templatesOf(account.wabaId)
    .all()
    .find(({ name }) => name === 'photo_ready')
  expect(made?.components).toContainEqual(expect.objectContaining({ type: 'HEADER', format: 'IMAGE' }))
})

test('discards an upload whose card is removed before it ends', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates/edit')
  await page.getByRole('combobox', { name: 'Category' }).click()
  await page.getByRole('option', { name: /^Marketing/ }).click()
  await page.getByRole('switch', { name: 'Carousel of cards' }).click()
  await page.getByRole('button', { name: 'Add card' }).click()
  const held = Promise.withResolvers<void>()
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/settings/samples?'))
  await page.route('**/settings/samples?*', async (route) => {
    await held.promise
    await route.continue()
  })
  await page
    .locator('input[type=file]')
    .nth(1)
    .setInputFiles({ name: 'shop.png', mimeType: 'image/png', buffer: picture })
  await page.getByRole('button', { name: 'Cancel upload' }).waitFor()

  await page.getByRole('button', { name: 'Remove card 2' }).click()

  await ended
  held.resolve()
  expect(await page.getByText('shop.png').count()).toBe(0)
  expect(await page.getByLabel('Or a link to a sample file').count()).toBe(2)
})

test('previews carousels and offers on a phone', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ viewport: { width: 390, height: 844 } })
  await openOfAccount('templates/edit')
  await page.getByRole('combobox', { name: 'Category' }).click()
  await page.getByRole('option', { name: /^Marketing/ }).click()
  await page.getByRole('switch', { name: 'Carousel of cards' }).click()
  await page.getByLabel('Card text').first().fill('Aloe vera.')
  await page.getByRole('figure').getByText('Aloe vera.').waitFor()
  await page.getByRole('switch', { name: 'Carousel of cards' }).click()
  await page.getByRole('switch', { name: 'Limited-time offer' }).click()
  await page.getByLabel('Offer', { exact: true }).fill('Ends soon')
  await page.getByRole('figure').getByText('Ends soon').waitFor()

  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  expect(overflow).toBe(0)
  expect(await findViolationsInBothSchemes(page)).toEqual([])
})

test('does not let viewers submit', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ role: 'viewer' })
  await openOfAccount('templates?name=order_shipped&language=en')
  await page.getByRole('figure').waitFor()

  expect(await page.getByRole('link', { name: 'New template' }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
})
