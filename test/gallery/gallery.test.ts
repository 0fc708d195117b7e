import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { galleryPages } from './pages.ts'
import { openShopDashboard, type ShopDashboard } from './open-dashboard.ts'
import { quantize } from './quantize.ts'
import { now } from './shop.ts'

const galleryWidths = [1440, 1280, 390] as const
const gallerySchemes = ['light', 'dark'] as const
type Width = (typeof galleryWidths)[number]
type Scheme = (typeof gallerySchemes)[number]

function nameFile(name: string, width: Width, scheme: Scheme): string {
  return `${name}-${width}-${scheme}.webp`
}

/** The page that shows the pictures. */
function writeGuide(): string {
  const parts = galleryPages.map(({ name, title }) => {
    const url = (width: Width, scheme: Scheme) => nameFile(name, width, scheme)
    const show = (width: Width, scheme: Scheme) => `![${title}, ${width} px, ${scheme}](${url(width, scheme)})`
    return [
      `## ${title}`,
      show(1440, 'light'),
      show(1440, 'dark'),
      `${show(390, 'light')} ${show(390, 'dark')}`,
      `At 1280 px: [light](${url(1280, 'light')}), [dark](${url(1280, 'dark')})`,
    ].join('\n\n')
  })
  return `${introduction}\n\n${parts.join('\n\n')}\n`
}

const introduction = `# Dashboard gallery

Every page of the dashboard at three widths in both colour schemes, with the data of an invented shop. To
review them, use the [checklist](../../docs/contributing/testing.md#review-the-dashboard-design).`

/**
 * Takes the pictures of the gallery: each page at three widths in both colour schemes. `npm run gallery -- -t messages`
 * takes those of one page.
 */
const root = path.resolve(import.meta.dirname, '../..')
const folder = process.env['GALLERY_FOLDER'] ?? path.join(root, 'dist/gallery')
const heights = { 1440: 900, 1280: 800, 390: 844 }
const quality = 60

let opened: ShopDashboard
let page: Page
let signedOutPage: Page

beforeAll(async () => {
  opened = await openShopDashboard()
  const { dashboard } = opened
  const [visit, signedOut] = [
    await dashboard.visit({ outlivesTest: true }),
    await dashboard.visit({ outlivesTest: true }),
  ]
  await opened.signInTo(visit.context)
  ;({ page } = visit)
  signedOutPage = signedOut.page
  for (const { context } of [visit, signedOut]) await context.clock.setFixedTime(now)
  await mkdir(folder, { recursive: true })
})

afterAll(() => opened?.close())

test.each(galleryPages)('$name', async ({ name, path: address, signedOut, requests }) => {
  const shown = signedOut ? signedOutPage : page
  if (requests) await shown.route(isOfPage, requests === 'waiting' ? () => {} : (route) => route.abort())
  const browser = await shown.context().newCDPSession(shown)
  for (const colorScheme of gallerySchemes) {
    await shown.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    for (const width of galleryWidths) {
      await shown.setViewportSize({ width, height: heights[width] })
      await shown.goto(`${opened.dashboard.server.url}/settings${address(opened.shop)}`)
      await (requests ? untilStands(shown, requests) : untilShown(shown))
      await writeFile(path.join(folder, nameFile(name, width, colorScheme)), await capture(browser))
    }
  }
  await browser.detach()
  if (requests) return shown.unroute(isOfPage)
  expect(await shown.getByRole('alert').filter({ hasText: 'Try again' }).count()).toBe(0)
})

test('takes the picture of the introduction and writes the page with the others', async () => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`${opened.dashboard.server.url}/settings/${opened.shop.accountId}/overview`)
  await untilShown(page)
  // The packages contain it.
  await writeFile(path.join(root, 'docs/guides/images/dashboard.png'), quantize(await page.screenshot()))
  const guide = writeGuide()
  await writeFile(path.join(folder, 'index.md'), guide)
  const shown = [...guide.matchAll(/\]\(([^)]+\.webp)\)/g)].map(([, file = '']) => file)
  expect(shown.filter((file) => !existsSync(path.join(folder, file)))).toEqual([])
})

/** Waits until no skeleton is left and the fonts are loaded. */
async function untilShown(shown: Page): Promise<void> {
  await shown.getByRole('heading', { level: 1 }).waitFor()
  await shown.waitForLoadState('networkidle')
  await expect
    .poll(() => shown.locator('[aria-busy=true], .mantine-Skeleton-root').count(), { timeout: 20_000 })
    .toBe(0)
  await shown.evaluate('document.fonts.ready.then(() => {})')
}

function isOfPage({ pathname }: URL): boolean {
  return pathname.startsWith('/settings/trpc/') && !pathname.endsWith('session.get')
}

/** Waits until the skeletons are shown, or until no request is being retried. */
async function untilStands(shown: Page, requests: 'waiting' | 'failed'): Promise<void> {
  await shown.getByRole('heading', { level: 1 }).waitFor()
  if (requests === 'waiting') await shown.locator('.mantine-Skeleton-root').filter({ visible: true }).first().waitFor()
  else await shown.getByRole('main').getByRole('alert').first().waitFor({ timeout: 60_000 })
  await shown.evaluate('document.fonts.ready.then(() => {})')
}

async function capture(browser: CDPSession): Promise<Buffer> {
  const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality })
  return Buffer.from(data, 'base64')
}
