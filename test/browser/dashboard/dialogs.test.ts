import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { send } from './sent-messages.ts'
import { useDashboard } from './support.ts'

const dashboard = useDashboard()

function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((one) => one === one.ownerDocument.activeElement)
}

/** Closes the dialog, which then returns the focus. */
async function expectFocusReturn(page: Page, name: string | RegExp, opener: Locator): Promise<void> {
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => isFocused(opener)).toBe(true)
}

test('closes only the confirmation above a drawer on Escape', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates?name=order_shipped&language=en')
  const drawer = page.getByRole('dialog', { name: /^order_shipped/ })
  await drawer.getByLabel('{{1}}').fill('Grace')
  const confirmation = page.getByRole('dialog', { name: /^Delete/ })
  // The second time shows that the drawer stays.
  for (const _ of [1, 2]) {
    await drawer.getByRole('button', { name: 'Delete' }).click()
    await confirmation.waitFor()
    await page.keyboard.press('Escape')
    await confirmation.waitFor({ state: 'detached' })
  }

  expect(await drawer.getByLabel('{{1}}').inputValue()).toBe('Grace')
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
})

test('closes only the command palette above a form on Escape', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('webhooks')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  const url = form.getByLabel('URL')
  await url.fill('https://shop.example.com/hooks')
  const palette = page.getByRole('dialog', { name: 'Search', exact: true })
  for (const _ of [1, 2]) {
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await expect.poll(() => isFocused(url)).toBe(true)
  }

  expect(await url.inputValue()).toBe('https://shop.example.com/hooks')
})

test('returns the focus to the button or the menu that opened a dialog', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { messageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}&status=sent`)

  for (const [opener, name] of [
    ['Send again', 'Send this message again?'],
    ['Stop messages', /^Stop messages to/],
  ] as const) {
    const button = page.getByRole('button', { name: opener })
    await button.click()
    await expectFocusReturn(page, name, button)
  }
  const views = page.getByRole('button', { name: 'Saved views' })
  await views.click()
  await page.getByRole('menuitem', { name: 'Save current filters' }).click()
  await expectFocusReturn(page, 'Save view', views)
})

test('returns the focus to the button that opened the dates or the time zone of the overview', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await send(account, 'order-1')
  await openOfAccount('overview')
  const dates = page.getByRole('button', { name: 'Dates' })
  await dates.click()
  const dialog = page.getByRole('dialog', { name: 'Dates' })
  await expect.poll(() => dialog.getByLabel('From').first().inputValue()).not.toBe('')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => isFocused(dates)).toBe(true)

  const timeZone = page.getByRole('button', { name: 'Change time zone' })
  await timeZone.click()
  await expectFocusReturn(page, 'Time zone', timeZone)
})

test.each([
  { path: 'people#invite', name: 'Invite person' },
  { path: 'suppressions#add', name: 'Add recipients' },
  { path: 'templates?name=order_shipped&language=en', name: /^order_shipped/ },
])('does not reopen the dialog of $path that was closed', async ({ path, name }) => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount(path)
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.url()).not.toMatch(/[?#]/)

  await page.goBack()

  await expect.poll(() => page.url()).toBe('about:blank')
})
