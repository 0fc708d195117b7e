import axe from 'axe-core'
import type { Browser, BrowserContext, Locator, Page, Response } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendCode } from '../../contracts/api/code.ts'
import { getMessage, previewMessage, sendMessage } from '../../contracts/api/message.ts'
import type { ApiProcedure } from '../../contracts/procedure.ts'
import { addSuppression } from '../../contracts/api/suppression.ts'
import { sendableDemoTemplates } from '../support/demo-templates.ts'
import { exampleSend } from '../support/example-send.ts'
import { patience } from '../support/patience.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { launchChromium } from './chromium.ts'

let browser: Browser
let server: TestServer
let context: BrowserContext
let page: Page
/** Requests to other hosts, content security policy violations and errors. Expected to stay empty. */
let pageErrors: string[]

beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchChromium(), startTestServer()])
})

afterAll(async () => {
  await browser?.close()
  await server?.close()
})

beforeEach(async () => {
  pageErrors = []
  context = await browser.newContext({ viewport: { width: 1440, height: 1000 } })
  context.setDefaultTimeout(patience.expect.poll.timeout)
  page = await context.newPage()
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== server.url) pageErrors.push(`asks ${request.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') pageErrors.push(message.text())
  })
  page.on('pageerror', (error) => pageErrors.push(error.message))
})

afterEach(async () => {
  await context.close()
})

type ApiRequest = Pick<ApiProcedure, 'tag' | 'method' | 'path'>

/** Opens the client of the reference at the example of a request. */
async function openRequest({ tag, method, path }: ApiRequest, apiKey: string): Promise<Locator> {
  await page.goto(`${server.url}/docs/api#tag/${tag.toLowerCase()}/${method}${path}`)
  await page.getByLabel('Value').first().fill(apiKey)
  await page.getByRole('button', { name: `${path})` }).click()
  return page.getByRole('dialog', { name: 'API Client' })
}

async function sendRequest(client: Locator, { path }: ApiRequest): Promise<Response> {
  const [response] = await Promise.all([
    page.waitForResponse(`**${path}`),
    client.getByRole('button', { name: /^Send post request/ }).click(),
  ])
  return response
}

test('sends a message from the documentation page', async () => {
  const { apiKey } = await server.account()
  const client = await openRequest(sendMessage, apiKey)

  const response = await sendRequest(client, sendMessage)

  expect(response.status()).toBe(200)
  expect(response.request().postDataJSON()).toEqual(sendMessage.example.input)
  // The documented key is an example: sending it would make the next attempt a replay.
  expect(await response.request().headerValue('idempotency-key')).toMatch(/^docs-[0-9a-f]{16,32}$/)
  const { data } = await response.json()
  await client.getByText('200 OK').waitFor()
  await client.getByText(data.messageId).waitFor()
  expect(pageErrors).toEqual([])
})

test.each([previewMessage, sendCode, addSuppression])(
  'sends the example of $path from the documentation page',
  async (contract) => {
    const { apiKey } = await server.account()
    const client = await openRequest(contract, apiKey)

    const response = await sendRequest(client, contract)

    expect(response.request().postDataJSON()).toEqual(contract.example.input)
    await client.getByText('200 OK').waitFor()
    expect(pageErrors).toEqual([])
  },
)

test('sends every template of the sandbox from the documentation page', async () => {
  const { apiKey, trpc } = await server.account()
  const client = await openRequest(sendMessage, apiKey)
  const body = client.getByRole('textbox').filter({ hasText: sendMessage.example.input.template })
  await body.waitFor()
  const editor = await body.elementHandle()

  for (const { name, language } of sendableDemoTemplates) {
    const { example } = await trpc.template.get.query({ name, language })
    await editor?.fill(JSON.stringify({ ...example, to: '34600111222' }))
    const response = await sendRequest(client, sendMessage)
    expect({ name, status: response.status(), text: await response.text() }).toMatchObject({ name, status: 200 })
  }

  const { items } = await trpc.message.list.query({ limit: 100 })
  expect(items.map(({ template }) => template).toReversed()).toEqual(sendableDemoTemplates.map(({ name }) => name))
  expect(pageErrors).toEqual([])
})

test('does not send filters that are only examples', async () => {
  await page.goto(`${server.url}/docs/api#tag/messages/GET/api/v1/message`)
  const snippet = page.getByRole('region', { name: 'List messages, newest first' }).getByText(/curl /)
  await snippet.first().waitFor()

  expect(await snippet.first().textContent()).not.toMatch(/status=|externalId=|cursor=/)
})

test.each(['light', 'dark'] as const)('follows a %s system colour scheme', async (colorScheme) => {
  await page.emulateMedia({ colorScheme })
  await page.goto(`${server.url}/docs/api`)
  await page.getByRole('heading', { name: 'Waybill', level: 1 }).waitFor()

  expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`)
  expect(pageErrors).toEqual([])
})

/** Five pages with different content: tabs, tables, code, an error page and an image. */
const guides = ['/docs', '/docs/webhooks', '/docs/errors', '/docs/errors/TEMPLATE_NOT_FOUND', '/docs/dashboard']

describe.each(['light', 'dark'] as const)('the guides in the %s theme', (colorScheme) => {
  test.each(guides)('%s is accessible and loads nothing from other hosts', async (path) => {
    await page.emulateMedia({ colorScheme })
    await page.goto(`${server.url}${path}`)

    expect(await page.locator('html').getAttribute('data-theme')).toBe(colorScheme)
    expect(await findViolations()).toEqual([])
    expect(pageErrors).toEqual([])
  })
})

test.each([...guides, '/docs/evaluate'])('%s fits a phone', async (path) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${server.url}${path}`)

  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(await findViolations()).toEqual([])
})

/** Code and tables that are wider than the page, and must be scrolled to be read. */
function findScrolled(selector: string): Promise<string[]> {
  return page
    .locator(selector)
    .evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent.slice(0, 60)),
    )
}

test('shows code in full on a phone, and its button beside it', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${server.url}/docs/webhooks`)

  expect(await findScrolled('article pre')).toEqual([])
  expect(await page.locator('article pre code').first().textContent()).not.toContain('Copy')
})

test.each(['configuration', 'commands', 'operating', 'sizing', 'opentelemetry', 'security', 'errors'])(
  'shows the tables of %s in full on a laptop',
  async (slug) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(`${server.url}/docs/${slug}`)

    expect(await findScrolled('.table')).toEqual([])
  },
)

test('lists the pages for account owners without a click', async () => {
  await page.goto(`${server.url}/docs`)

  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Dashboard' }).waitFor()
  expect(await page.locator('summary').allTextContents()).toEqual(['Operators'])
})

test('opens the menu on a phone, closes it with Escape, and opens a page from it', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${server.url}/docs`)
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Rate limits' })

  await page.getByRole('button', { name: 'Menu' }).click()
  await link.waitFor()
  await page.keyboard.press('Escape')
  await link.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Menu' }).click()
  await link.click()

  await page.getByRole('heading', { name: 'Rate limits', level: 1 }).waitFor()
  expect(pageErrors).toEqual([])
})

test('finds an error page by keyboard', async () => {
  await page.goto(`${server.url}/docs`)

  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('template_not')
  await page
    .getByRole('option', { name: /TEMPLATE_NOT_FOUND/ })
    .first()
    .waitFor()
  expect(await findViolations()).toEqual([])
  await page.keyboard.press('Enter')

  await page.waitForURL('**/docs/errors/TEMPLATE_NOT_FOUND')
  expect(pageErrors).toEqual([])
})

test('finds the guide about retries before the pages of errors, which all have that heading', async () => {
  await page.goto(`${server.url}/docs`)

  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('retry')

  const first = page.getByRole('option', { name: /retr/i }).first()
  await expect.poll(() => first.textContent()).toContain('Idempotency and safe retries')
})

test('finds the pages with most of the words if none has all of them', async () => {
  await page.goto(`${server.url}/docs`)

  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('the right to be forgotten')

  await page.getByText('No section has all of these words. These have most of them.').waitFor()
  await page.getByRole('option', { name: /Move, export and erase data/ }).waitFor()
  expect(pageErrors).toEqual([])
})

test('keeps the chosen language on other pages', async () => {
  await page.goto(`${server.url}/docs`)
  await page.getByRole('tab', { name: 'curl' }).press('ArrowRight')
  await page.getByRole('tab', { name: 'Python' }).click()

  await page.goto(`${server.url}/docs/idempotency`)

  expect(await page.getByRole('tab', { name: 'Python' }).getAttribute('aria-selected')).toBe('true')
  expect(await page.getByRole('tabpanel').count()).toBe(1)
  await page.getByText('def send(message: dict, key: str)').waitFor()
})

test('fills the URL of the server into the snippets', async () => {
  await page.goto(`${server.url}/docs`)

  const snippet = await page.getByRole('tabpanel').textContent()

  expect(snippet).toContain(`${server.url}/api/v1/message/send`)
  expect(snippet).not.toContain('127.0.0.1:3000')
})

test('redirects old URLs of the reference', async () => {
  await page.goto(`${server.url}/docs#tag/messages/POST/api/v1/message/send`)

  await page.waitForURL('**/docs/api#**')
  expect(new URL(page.url()).hash).toBe('#tag/messages/POST/api/v1/message/send')
})

test('can be read without JavaScript', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
  const reader = await plain.newPage()
  await reader.goto(`${server.url}/docs/idempotency`)

  await reader.getByRole('link', { name: 'Rate limits' }).first().waitFor()
  expect(await reader.getByText('def send(message: dict, key: str)').isVisible()).toBe(true)
  expect(await reader.getByText('func send(message map[string]any').isVisible()).toBe(true)
  await plain.close()
})

test('is light, and paints on a slow processor', async () => {
  const { bytes, paintMilliseconds } = await visit('/docs')

  // How long it takes depends on the machine, so it is reported and not asserted.
  console.log(`/docs takes ${bytes} bytes, and ${Math.round(paintMilliseconds)} ms on a processor four times slower.`)
  expect(bytes).toBeLessThan(30_000)
})

/** Loads a page with an empty cache on a slow processor. */
async function visit(path: string): Promise<{ bytes: number; paintMilliseconds: number }> {
  const visitor = await browser.newContext()
  const visited = await visitor.newPage()
  const session = await visitor.newCDPSession(visited)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await visited.goto(`${server.url}${path}`, { waitUntil: 'networkidle' })
  const paintMilliseconds = await visited.evaluate<number>(
    `new Promise((resolve) => {
      const observer = new PerformanceObserver((list) => {
        for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime)
      })
      observer.observe({ type: 'paint', buffered: true })
    })`,
  )
  await visitor.close()
  return { bytes, paintMilliseconds }
}

describe('the reference', () => {
  test('reads the newest message in place of the one in the examples, which does not exist', async () => {
    const { apiKey, trpc } = await server.account()
    const { messageId } = await trpc.message.send.mutate(exampleSend)
    const client = await openRequest(getMessage, apiKey)

    await client.getByRole('button', { name: /^Send get request/ }).click()

    await client.getByText('200 OK').waitFor()
    await client.getByText(messageId).first().waitFor()
    expect(pageErrors).toEqual([])
  })

  test('explains which key to enter, and shows the tabs of all responses', async () => {
    await page.goto(`${server.url}/docs/api`)

    await page.getByPlaceholder('Paste your API key').first().waitFor()
    await page.getByRole('link', { name: sendMessage.summary }).first().click()
    const tabs = page.locator('.tab-list').first()
    await tabs.waitFor()
    expect(await tabs.evaluate((list) => list.scrollWidth <= list.clientWidth)).toBe(true)
  })

  test('sends a message from a phone, with its address in view', async () => {
    const { apiKey } = await server.account()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${server.url}/docs/api#tag/messages/POST/api/v1/message/send`)
    await page.getByRole('button', { name: /Test Request.*message\/send/ }).click()
    const client = page.getByRole('dialog', { name: 'API Client' })
    await client.getByLabel('Value').first().fill(apiKey)
    await client.getByRole('button', { name: /^Send post request/ }).click()

    await client.getByText('200 OK').waitFor()
    // A control over the address would be found at its start.
    const address = client.getByRole('button', { name: server.url }).first()
    expect(
      await address.evaluate((node) => {
        const { left, top, height } = node.getBoundingClientRect()
        return node.contains(document.elementFromPoint(left + 4, top + height / 2))
      }),
    ).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(pageErrors).toEqual([])
  })

  test('draws no frame around the operation that an address names', async () => {
    await page.goto(`${server.url}/docs/api#tag/messages/POST/api/v1/message/send`)

    const operation = page.locator('section:focus')
    await operation.waitFor()
    expect(await operation.evaluate((section) => getComputedStyle(section).outlineStyle)).toBe('none')
  })

  test('offers no test request for webhooks', async () => {
    await page.goto(`${server.url}/docs/api#tag/webhooks/webhook/POST/message.delivered`)

    const webhook = page.locator('section[id*="/webhook/POST/message.delivered"]')
    await webhook.waitFor()
    expect(await webhook.getByRole('button', { name: /Test Request/ }).count()).toBe(0)
  })
})

async function findViolations(): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

interface AxeResults {
  violations: { id: string; nodes: { target: string[] }[] }[]
}
