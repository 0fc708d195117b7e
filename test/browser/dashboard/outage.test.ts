import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { findAccessibilityViolations, useDashboard } from './support.ts'
import { exampleSend } from '../../support/example-send.ts'

const dashboard = useDashboard()

/** Counts elements that appear and disappear in the page from now on. */
function watchPlaceholders(page: Page): Promise<void> {
  return page.evaluate(`{
    window.seen = { skeletons: 0, removedAlerts: 0 }
    new MutationObserver((records) => {
      for (const { addedNodes, removedNodes } of records) {
        for (const node of addedNodes)
          if (node instanceof Element && (node.matches('[role=status]') || node.querySelector('[role=status]')))
            if (node.textContent.includes('Loading')) window.seen.skeletons++
        for (const node of removedNodes)
          if (node instanceof Element && (node.matches('[role=alert]') || node.querySelector('[role=alert]')))
            window.seen.removedAlerts++
      }
    }).observe(document.body, { childList: true, subtree: true })
  }`)
}

/** Breaks the connection, like a restart of the server. */
async function breakConnection(route: Route): Promise<void> {
  await route.abort('connectionrefused')
}

test.each([
  { path: 'messages', procedure: 'message.list' },
  { path: 'overview', procedure: 'overview.get' },
  { path: 'webhooks', procedure: 'webhook.list' },
])(
  'keeps the error in place on $path while the page tries again',

  async ({ path, procedure }) => {
    const { page, context, openOfAccount, account } = await dashboard.signedIn()
    await account.trpc.message.send.mutate(exampleSend)
    let attempts = 0
    const url = `**/settings.${procedure}*`
    await context.route(url, (route) => {
      attempts++
      return breakConnection(route)
    })
    await openOfAccount(path)
    const button = page.getByRole('main').getByRole('button', { name: 'Try again' }).first()
    await button.waitFor()
    await watchPlaceholders(page)
    const before = { attempts, place: await button.boundingBox() }

    // An automatic refresh with its retries, and the next one.
    await expect.poll(() => attempts).toBeGreaterThan(before.attempts + 3)

    expect(await page.evaluate('window.seen')).toEqual({ skeletons: 0, removedAlerts: 0 })
    expect(await button.boundingBox()).toEqual(before.place)

    await context.unroute(url)
    await button.click()
    await page.getByRole('main').getByRole('alert').first().waitFor({ state: 'detached' })
  },
)

test.each([
  {
    what: 'the setup steps',
    request: /webhook\.list/,
    path: 'overview',
    claim: 'Loading',
    retried: 'Send your first message',
  },
  {
    what: 'the templates of a setup',
    request: /template\.list/,
    path: 'whatsapp-accounts/{whatsAppAccountId}',
    claim: 'Not read yet.',
    retried: 'Variables are filled with the template’s examples.',
  },
  {
    what: 'the template of a message',
    request: /template\.list/,
    path: 'messages/{messageId}',
    claim: 'is no longer available',
    retried: 'This is the current template',
  },
])('reports that $what could not be read, and reads them again', async ({ request, path, claim, retried }) => {
  const { page, context, openOfAccount, account } = await dashboard.signedIn()
  const { whatsAppAccountId } = account
  const { messageId } = path.includes('messageId')
    ? await account.trpc.message.send.mutate(exampleSend)
    : { messageId: '' }
  await context.route(request, breakConnection)
  await openOfAccount(path.replace('{messageId}', messageId).replace('{whatsAppAccountId}', whatsAppAccountId))
  const retry = page.getByRole('main').getByRole('button', { name: 'Try again' }).first()
  await retry.waitFor()
  expect(await page.getByText(claim).count()).toBe(0)

  await context.unroute(request)
  await retry.click()

  await page.getByText(retried).first().waitFor()
})

test('does not say that the server sends no email while that is unknown', async () => {
  const { page, context, open } = await dashboard.visit()
  await context.route(/session\.options/, breakConnection)
  await open('/forgot-password')
  const retry = page.getByRole('button', { name: 'Try again' })
  await retry.waitFor()
  expect(await page.getByText('This server sends no email.').count()).toBe(0)

  await context.unroute(/session\.options/)
  await retry.click()

  await page.getByText('This server sends no email.').waitFor()
})

test.each([
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 390 },
] as const)('explains a failed start and opens by itself ($colorScheme, $width px)', async ({ colorScheme, width }) => {
  const { page, context, openOfAccount } = await dashboard.signedIn({ colorScheme, viewport: { width, height: 800 } })
  await context.route('**/settings.session.get*', breakConnection)
  await openOfAccount('webhooks')
  await page.getByRole('heading', { level: 1, name: 'Waybill is unavailable' }).waitFor()
  await page.getByText('Check your connection and try again.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await context.unroute('**/settings.session.get*')

  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
})
