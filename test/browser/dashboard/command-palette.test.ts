import { expect, test } from 'vitest'
import {
  findAccessibilityViolations,
  findViolationsInBothSchemes,
  type SignedInVisit,
  useDashboard,
} from './support.ts'

const dashboard = useDashboard()
async function openPalette({ page, openOfAccount }: SignedInVisit) {
  await openOfAccount('overview')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: /Search pages/ })
  await field.waitFor()
  return field
}

test('opens a page by keyboard only', async () => {
  const visit = await dashboard.signedIn()
  const field = await openPalette(visit)

  await field.fill('webh')
  await visit.page.getByRole('option', { name: 'Webhooks' }).waitFor()
  await field.press('Enter')

  await visit.page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  expect(await field.isVisible()).toBe(false)
})

test('tells screen readers which result Enter opens, and keeps it when more results arrive', async () => {
  const visit = await dashboard.signedIn()
  const { page } = visit
  const documentation = Promise.withResolvers<void>()
  await page.route('**/docs/search.json', async (route) => {
    await documentation.promise
    await route.continue()
  })
  const field = await openPalette(visit)
  const readActiveOption = () =>
    field.evaluate(
      (element) =>
        element.ownerDocument.getElementById(element.getAttribute('aria-activedescendant') ?? '')?.textContent,
    )

  await field.fill('messages')
  await expect.poll(readActiveOption).toBe('Messages')
  await field.press('ArrowDown')
  expect(await readActiveOption()).toBe('Stop messages to a number')
  documentation.resolve()
  await page.getByText('Documentation', { exact: true }).waitFor()
  expect(await readActiveOption()).toBe('Stop messages to a number')
  await field.fill('MESSAGES')
  await expect.poll(readActiveOption).toBe('Messages')
  await field.fill('no such thing')
  await expect.poll(readActiveOption).toBeUndefined()
  await field.fill('messages')
  await expect.poll(readActiveOption).toBe('Messages')
  await field.press('ArrowDown')
  await field.press('Enter')

  await page.getByRole('heading', { name: 'Add recipients' }).waitFor()
})

test.each([
  { text: 'invite', action: 'Invite a person', opens: { role: 'dialog', name: 'Invite person' } },
  { text: 'stop', action: 'Stop messages to a number', opens: { role: 'heading', name: 'Add recipients' } },
  { text: 'key', action: 'Replace the API key', opens: { role: 'heading', name: 'API key' } },
] as const)('opens "$action" where it is done', async ({ text, action, opens }) => {
  const visit = await dashboard.signedIn()
  const field = await openPalette(visit)

  await field.fill(text)
  await visit.page.getByRole('option', { name: action }).click()

  const shown = visit.page.getByRole(opens.role, { name: opens.name, exact: true })
  await shown.waitFor()
  expect(await shown.boundingBox().then((box) => box !== null && box.y > 0 && box.y < 900)).toBe(true)
})

test('finds templates by name and messages by part of a number', async () => {
  const visit = await dashboard.signedIn()
  const { page, account } = visit
  const sent = await account.trpc.message.send.mutate({
    to: '34655500011',
    template: 'order_shipped',
    language: 'en',
    externalId: 'order-4711',
    variables: { '1': 'Ada', '2': 'WB-1042' },
  })
  const field = await openPalette(visit)

  await field.fill('order-47')
  const found = page.getByRole('option', { name: /^\+34655500011.*order-4711/ })
  await found.waitFor()
  await expect.poll(() => found.getAttribute('data-combobox-selected')).toBe('true')
  expect(await findAccessibilityViolations(page)).toEqual([])
  const colours = await found.evaluate((option) =>
    [option, ...option.querySelectorAll('span')].map((element) => getComputedStyle(element).color),
  )
  expect(new Set(colours).size).toBe(1)

  await field.fill('order_sh')
  await page
    .getByRole('option', { name: /^order_shipped/ })
    .first()
    .waitFor()
  await field.fill('46555')
  await page.getByRole('option', { name: '+34655500011' }).click()

  await page.waitForURL(`**/messages/${sent.messageId}`)
  await page.keyboard.press('Control+k')
  await field.fill('no such thing')
  await page.getByText('Nothing found').waitFor()
})

test('says that it could not be loaded, and leaves the page as it is', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('suppressions')
  await page.getByLabel('Find a recipient').fill('34600111222')
  await page.route(/\/command-palette-[^/]*\.js/, (route) => route.abort())

  for (const times of [1, 2]) {
    await page.getByRole('button', { name: 'Search' }).click()
    await expect.poll(() => page.getByText('The server may have been updated').count()).toBe(times)
  }

  expect(await page.getByLabel('Find a recipient').inputValue()).toBe('34600111222')
})

test('returns the focus when it is closed', async () => {
  const visit = await dashboard.signedIn()
  await visit.openOfAccount('overview')
  const button = visit.page.getByRole('button', { name: 'Search' })
  await button.click()
  const field = visit.page.getByRole('combobox', { name: /Search pages/ })
  await field.press('Escape')

  await field.waitFor({ state: 'detached' })
  await expect.poll(() => button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
})

test('offers viewers no changes', async () => {
  const visit = await dashboard.signedIn({ role: 'viewer' })
  await openPalette(visit)

  await visit.page.getByRole('option', { name: 'Show failed messages' }).waitFor()
  expect(await visit.page.getByRole('option', { name: 'Create a template' }).count()).toBe(0)
})

test('is accessible before its templates arrive', async () => {
  const visit = await dashboard.signedIn({ viewport: { width: 390, height: 844 } })
  await visit.openOfAccount('overview')
  // Never answered.
  await visit.page.route(/settings\.template\.list/, () => {})
  await visit.page.getByRole('button', { name: 'Search' }).click()
  await visit.page.getByRole('option', { name: 'Overview' }).waitFor()

  expect(await findViolationsInBothSchemes(visit.page)).toEqual([])
})

test('changes colours at once without motion', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ colorScheme: 'dark' })
  await openOfAccount('overview')
  await page.getByRole('button', { name: 'Search' }).click()
  const option = page.getByRole('option', { name: 'Overview' })
  await expect.poll(() => option.getAttribute('data-combobox-selected')).toBe('true')

  const colours = await option.evaluate((row) => {
    const label = row.querySelector('span') ?? row
    const before = getComputedStyle(label).color
    row.removeAttribute('data-combobox-selected')
    return { before, row: getComputedStyle(row).color, label: getComputedStyle(label).color }
  })

  expect(colours.label).toBe(colours.row)
  expect(colours.label).not.toBe(colours.before)
})
