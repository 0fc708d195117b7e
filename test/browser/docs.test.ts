import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
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

test('sends a message from the documentation page', async () => {
  const { apiKey } = await server.account()
  await page.goto(`${server.url}/docs`)
  await page.getByRole('heading', { name: 'Waybill', level: 1 }).waitFor()
  await page.getByLabel('Value').first().fill(apiKey)
  await page.getByRole('link', { name: sendMessage.summary }).first().click()
  await page.getByRole('button', { name: /Test Request.*message\/send/ }).click()
  const client = page.getByRole('dialog', { name: 'API Client' })

  const [response] = await Promise.all([
    page.waitForResponse('**/api/v1/message/send'),
    client.getByRole('button', { name: /^Send post request/ }).click(),
  ])

  expect(response.status()).toBe(200)
  expect(response.request().postDataJSON()).toEqual(sendMessage.example.input)
  // The documented key is an example: sending it would make the next attempt a replay.
  expect(await response.request().headerValue('idempotency-key')).toBeNull()
  const { data } = await response.json()
  await client.getByText('200 OK').waitFor()
  await client.getByText(data.messageId).waitFor()
  expect(pageErrors).toEqual([])
})

test('does not send filters that are only examples', async () => {
  await page.goto(`${server.url}/docs#tag/messages/GET/api/v1/message`)
  const snippet = page.getByRole('region', { name: 'List messages, newest first' }).getByText(/curl /)
  await snippet.first().waitFor()

  expect(await snippet.first().textContent()).not.toMatch(/status=|externalId=|cursor=/)
})

test.each(['light', 'dark'] as const)('follows a %s system colour scheme', async (colorScheme) => {
  await page.emulateMedia({ colorScheme })
  await page.goto(`${server.url}/docs`)
  await page.getByRole('heading', { name: 'Waybill', level: 1 }).waitFor()

  expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`)
  expect(pageErrors).toEqual([])
})
