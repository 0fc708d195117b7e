import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createAccount } from '../../../src/accounts/account.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { findAccessibilityViolations, joinAccount, useDashboard } from './support.ts'
import { exampleSend } from '../../support/example-send.ts'

const dashboard = useDashboard()
/** The left and right edge of the content, and of the space beside the navigation. */
async function measureContent(page: Page) {
  const content = await page.locator('.content').boundingBox()
  const navigation = await page.getByRole('navigation', { name: 'Pages' }).boundingBox()
  if (!content || !navigation) throw new Error('there is no content')
  const start = navigation.x + navigation.width
  return { before: content.x - start, after: (page.viewportSize()?.width ?? 0) - content.x - content.width, ...content }
}

test('centres the content on a wide screen, and makes it wider there', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ viewport: { width: 1500, height: 900 } })
  await openOfAccount('messages')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const usual = await measureContent(page)
  await page.setViewportSize({ width: 2200, height: 1000 })
  const wide = await measureContent(page)

  expect(usual.width).toBe(1120)
  expect(wide.width).toBeGreaterThan(1400)
  expect(Math.abs(wide.before - wide.after)).toBeLessThan(2)
})

test('keeps the whole log visible beside an open message on a wide screen', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport: { width: 2200, height: 1000 } })
  const { messageId } = await account.trpc.message.send.mutate(exampleSend)
  await openOfAccount(`messages?message=${messageId}`)
  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.getByText('Timeline').waitFor()
  const [table, beside] = [await page.getByRole('table').first().boundingBox(), await panel.boundingBox()]

  expect((table?.x ?? 0) + (table?.width ?? 0)).toBeLessThan(beside?.x ?? 0)
  expect(table?.width).toBeGreaterThan(900)
})

test('shows log rows that are 36 px high', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await account.trpc.message.send.mutate(exampleSend)
  await account.trpc.message.send.mutate(exampleSend)
  await openOfAccount('messages')
  const row = page.getByRole('row').filter({ hasText: '+34600111222' }).first()
  await row.waitFor()

  expect((await row.boundingBox())?.height).toBe(36)
})

test('does not animate for readers who prefer less motion', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { messageId } = await account.trpc.message.send.mutate(exampleSend)
  const readDuration = async () => {
    await openOfAccount(`messages?message=${messageId}`)
    const panel = page.getByRole('region', { name: '+34600111222' })
    await panel.waitFor()
    return panel.evaluate((element) => parseFloat(getComputedStyle(element).animationDuration))
  }
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  expect(await readDuration()).toBeGreaterThan(0.05)
  await page.emulateMedia({ reducedMotion: 'reduce' })

  expect(await readDuration()).toBeLessThan(0.001)
})

test('shows floating surfaces lighter than the page in the dark theme', async () => {
  const { page, openOfAccount } = await dashboard.signedIn({ colorScheme: 'dark' })
  await openOfAccount('people')
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  const brightness = (selector: string) =>
    page.evaluate((found) => {
      const element = document.querySelector(found)
      const [red = 0, green = 0, blue = 0] = element
        ? (getComputedStyle(element).backgroundColor.match(/\d+/g) ?? []).map(Number)
        : []
      return red + green + blue
    }, selector)
  const [lowest, card, floating] = [
    await brightness('body'),
    await brightness('main section'),
    await brightness('section[role=dialog]'),
  ]

  expect(lowest).toBeGreaterThan(0)
  expect(card).toBeGreaterThan(lowest)
  expect(floating).toBeGreaterThan(card)
})

test('shows a skeleton in the place of the log, as high as its rows', async () => {
  const { page, context, openOfAccount, account } = await dashboard.signedIn()
  await account.trpc.message.send.mutate(exampleSend)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  await context.route('**/settings.message.list*', async (route) => {
    await held
    await route.continue()
  })
  await openOfAccount('messages')
  const skeleton = page.getByRole('main').getByRole('status').filter({ hasText: 'Loading' })
  await skeleton.waitFor()
  const rows = await skeleton.locator('[class*=row]').all()
  const place = await rows[0]?.boundingBox()
  const heights = await Promise.all(rows.slice(1, 3).map(async (row) => (await row.boundingBox())?.height))
  release()
  const row = page.getByRole('row').filter({ hasText: '+34600111222' })
  await row.waitFor()

  expect(await skeleton.count()).toBe(0)
  expect(heights).toEqual([36, 36])
  expect((await page.getByRole('table').boundingBox())?.y).toBe(place?.y)
})

test.each([
  { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const)('leads a new account from step to step in $colorScheme', async ({ colorScheme, viewport }) => {
  const { page, context, open, openOfAccount, account, email } = await dashboard.signedIn({ colorScheme, viewport })
  const { deps } = dashboard.server
  const { accountId } = await createAccount(deps, { name: 'New' })
  await joinAccount(dashboard.server, context, { accountId, email })
  const current = page.getByRole('main').locator('li[aria-current=step]')

  await open(`/${accountId}/overview`)
  await current.getByRole('link', { name: 'Connect a number' }).waitFor()
  const name = page.getByRole('banner').getByText('Waybill', { exact: true })
  expect(await name.isVisible()).toBe(viewport.width > 390)
  expect(await findAccessibilityViolations(page)).toEqual([])
  await open(`/${accountId}/requests`)
  await page.getByRole('link', { name: 'Connect a number' }).waitFor()

  // This account has a number and a key.
  await openOfAccount('overview')
  await current.getByRole('link', { name: 'Open Public API' }).waitFor()
  await account.trpc.message.send.mutate(exampleSend)
  await page.reload()
  await current.getByRole('link', { name: 'Add an endpoint' }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await addEndpoint(deps, account.accountId, { url: 'https://127.0.0.1:9/hooks' })
  await page.reload()
  await page.getByRole('region', { name: 'Messages by day' }).waitFor()
  await expect.poll(() => current.count()).toBe(0)
})

test('loads less than 235 kB of script with the first page, and the scripts of other pages later', async () => {
  const { page, context, openOfAccount } = await dashboard.signedIn()
  // Earlier tests have left the files in the cache.
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const sizes = new Map<string, number>()
  page.on('response', (response) => {
    if (response.url().endsWith('.js')) sizes.set(response.url(), Number(response.headers()['content-length']))
  })
  await openOfAccount('overview')
  await page.getByText('Send your first message').waitFor()
  await page.waitForLoadState('networkidle')
  const first = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const files = sizes.size
  expect(first).toBeGreaterThan(50_000)
  expect(first).toBeLessThan(235_000)

  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
  await expect.poll(() => sizes.size).toBeGreaterThan(files)
})
