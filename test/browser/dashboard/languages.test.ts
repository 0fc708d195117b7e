import { getCatalogs } from '@lingui/cli/api'
import { makeConfig } from '@lingui/conf'
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { errorFacts } from '../../../contracts/facts/errors.ts'
import { factTexts } from '../../../contracts/facts/catalogue.ts'
import linguiConfig from '../../../src/dashboard/lingui.config.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { useDeliveries } from './deliveries.ts'
import { findAccessibilityViolations } from './support.ts'
import { send } from './sent-messages.ts'

const { dashboard, receiver } = useDeliveries()

/** Pages of an account. */
const pages = [
  'overview',
  'public-api',
  'whatsapp-accounts',
  'whatsapp-accounts/connect',
  'templates',
  'templates/new',
  'templates/edit',
  'messages',
  'requests',
  'suppressions',
  'webhooks',
  'alerts',
  'people',
  'audit-log',
] as const

/** Makes the browser request languages, like its settings. */
async function preferLanguages(page: Page, tags: string[]): Promise<void> {
  await page.addInitScript(`Object.defineProperty(navigator, 'languages', { get: () => ${JSON.stringify(tags)} })`)
}

const languageOf = (page: Page) => page.evaluate('document.documentElement.lang')

test('signs in a Spanish reader in Spanish', async () => {
  const { page, open } = await dashboard.visit()
  await preferLanguages(page, ['es-ES', 'es', 'en'])
  await open('/sign-in')

  await page.getByRole('heading', { level: 1, name: 'Iniciar sesión' }).waitFor()
  expect(await page.title()).toBe('Iniciar sesión · Waybill')
  expect(await languageOf(page)).toBe('es')
  await page.getByLabel('Correo electrónico').fill('nobody@example.com')
  await page.getByLabel('Contraseña', { exact: true }).fill('wrong password')
  await page.getByRole('button', { name: 'Iniciar sesión' }).click()

  await page.getByText('Correo electrónico o contraseña incorrectos.').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('shows numbers, dates and statuses in the locale of the reader', async () => {
  const visit = await dashboard.signedIn()
  const { page, openOfAccount } = visit
  await preferLanguages(page, ['es-ES'])
  await send(visit.account, 'order-1')
  await openOfAccount('messages')

  const row = page.getByRole('row', { name: /order-1/ })
  await row.getByText('Enviado').waitFor()
  // In Spanish the day comes before the month, and a day has 24 hours.
  expect(await row.getByRole('time').first().textContent()).toMatch(/^\d{1,2} \p{Ll}{3,5}, \d{1,2}:\d\d:\d\d$/u)
  await page.getByText('1 mensaje', { exact: true }).waitFor()

  await openOfAccount('overview')
  await page.getByRole('heading', { name: 'Últimos mensajes' }).waitFor()
  // A space separates a number and its percent sign.
  await page
    .getByText(/^100,0\s% de los intentados$/)
    .first()
    .waitFor()
})

test('shows errors of the server in the language of the reader', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await preferLanguages(page, ['es-ES'])
  await page.route('**/settings.audit.list**', (route) =>
    route.fulfill({
      status: 503,
      json: {
        error: {
          message: 'The database is unavailable. Nothing was sent. Try again in a moment.',
          code: -32603,
          data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, fact: errorFacts.databaseUnavailable() },
        },
      },
    }),
  )
  await openOfAccount('audit-log')

  const alert = page.getByRole('alert')
  await alert.getByText('La base de datos no está disponible.').waitFor()
  expect(await alert.getByRole('button', { name: 'Reintentar' }).isVisible()).toBe(true)
})

test('switches the language, keeps what was typed, and remembers the choice', async () => {
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('suppressions')
  await page.getByLabel('Find a recipient').fill('34600111222')

  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Español' }).click()

  await page.getByRole('heading', { level: 1, name: 'Exclusiones' }).waitFor()
  await page.getByRole('menuitem', { name: 'Español' }).waitFor({ state: 'detached' })
  expect(await page.title()).toBe('Exclusiones · Waybill')
  expect(await languageOf(page)).toBe('es')
  expect(await page.getByLabel('Buscar un destinatario').inputValue()).toBe('34600111222')

  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Exclusiones' }).waitFor()
  await page.getByRole('button', { name: /Menú de usuario/ }).click()
  await page.getByRole('menuitem', { name: 'English' }).click()
  await page.getByRole('heading', { level: 1, name: 'Suppressions' }).waitFor()
})

test('offers the languages before sign-in', async () => {
  const { page, open } = await dashboard.visit()
  await open('/sign-in')
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByLabel('Language').selectOption('Español')

  await page.getByRole('heading', { level: 1, name: 'Iniciar sesión' }).waitFor()
  expect(await page.getByLabel('Correo electrónico').inputValue()).toBe('ada@example.com')
})

test('stays in English and says so if the other language cannot be loaded', async () => {
  const { page, open } = await dashboard.visit()
  await page.route(/\/es-[^/]*\.js/, (route) => route.abort())
  await open('/sign-in')
  await page.getByLabel('Language').selectOption('Español')
  await page.getByText('The server may have been updated').waitFor()
  expect(await page.getByLabel('Language').inputValue()).toBe('en')

  await preferLanguages(page, ['es-MX', 'es'])
  await page.reload()

  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  expect(await languageOf(page)).toBe('en')
})

test('falls back to English for an unsupported language', async () => {
  const { page, open } = await dashboard.visit()
  await preferLanguages(page, ['fr-FR', 'fr'])
  await open('/sign-in')

  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  expect(await languageOf(page)).toBe('en')
})

test('Spanish pages are accessible and fit a phone', async () => {
  const visit = await dashboard.signedIn({ viewport: { width: 390, height: 844 } })
  const { page, openOfAccount } = visit
  await preferLanguages(page, ['es-ES'])
  await send(visit.account, 'order-1')
  const problems: string[] = []
  for (const name of pages) {
    await openOfAccount(name)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText('Cargando', { exact: true }).first().waitFor({ state: 'detached' })
    problems.push(...(await findAccessibilityViolations(page)).map((violation) => `${name}: ${violation}`))
    const surplus = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
    if (surplus !== 0) problems.push(`${name}: ${String(surplus)} px too wide`)
  }

  expect(problems).toEqual([])
})

const [opening, closing] = ['⟦', '⟧']

/** Returns the module of a catalogue with every text between marks: those of facts by code, all others by message ID. */
async function makeMarkedCatalogue(): Promise<string> {
  const [catalogue] = await getCatalogs(makeConfig(linguiConfig, { skipValidation: true }))
  const ofCode = Object.entries((await catalogue?.collect()) ?? {}).map(
    ([id, { message = '' }]) => [id, message] as const,
  )
  const messages = [...ofCode, ...factTexts].map(([id, text]) => [
    id,
    [opening, ...compileMessageOrThrow(text), closing],
  ])
  return `export const messages = ${JSON.stringify(Object.fromEntries(messages))}`
}

/** Returns the text on the page outside the marks. */
function listUnmarked(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(${findUnmarked.toString()})(document)`)
}

/** Runs in the browser. Code, times and elements with their own language are data. */
function findUnmarked(document: {
  body: unknown
  createTreeWalker: (root: unknown, what: number) => { nextNode: () => unknown; currentNode: unknown }
  querySelectorAll: (selector: string) => Iterable<{ getAttribute: (name: string) => string | null }>
}): string[] {
  interface TextNode {
    data: string
    parentElement: { closest: (selector: string) => unknown } | null
  }
  const data =
    'code, pre, kbd, time, noscript, script, style, svg, textarea, [lang]:not(html), option, [role=figure], [data-data]'
  const found: string[] = []
  let depth = 0
  const walker = document.createTreeWalker(document.body, 4)
  while (walker.nextNode()) {
    const node = walker.currentNode as TextNode
    let outside = ''
    for (const character of node.data)
      if (character === '⟦') depth++
      else if (character === '⟧') depth--
      else if (depth === 0) outside += character
    if (/\p{L}{2,}/u.test(outside) && !node.parentElement?.closest(data)) found.push(outside.trim())
  }
  for (const name of ['aria-label', 'placeholder', 'title', 'alt'])
    for (const element of document.querySelectorAll(`[${name}]`)) {
      const text = element.getAttribute(name) ?? ''
      if (/\p{L}{2,}/u.test(text.replaceAll(/⟦.*⟧/gsu, ''))) found.push(`${name}: ${text}`)
    }
  return found
}

/** Names and values, which have no language or come from the browser. */
const dataPatterns: readonly RegExp[] = [
  // The product, the account, its members and its business.
  /^(Waybill|Test|Ada Lovelace|Simulated Business|person\d+@example\.com)$/,
  // Templates, event types, IDs, paths and addresses.
  /^(?:title: |placeholder: |· )?[a-z][\w.-]*(?: en)?$/,
  /^(?:msg|wamid)[._]\S+$/,
  /^[A-Z]{2}\.(?:ENT\.)?\d+$/,
  /^(?:placeholder: )?(?:https?:|\/)\S*$/,
  // Error codes.
  /^(?:placeholder: )?[A-Z]+(?:_[A-Z]+)+$/,
  // Dates, and names of languages with their codes, which the browser writes.
  /^(?:title: )?\d{1,2} \p{Ll}{3,4}(?: – \d{1,2} \p{Ll}{3,4})?(?: \d{4})?(?:, [\d:]+ UTC)?$/u,
  /\((?:[a-z]{2,3})(?:_[A-Z]{2})?\)$/,
  // Programming languages and generators.
  /^(?:TypeScript|Python|Go|Java|PHP|Ruby|Rust)(?:: [\w-]+)?$/,
  // Mantine's invisible copy of a text area.
  'aria-label: autosize measurement',
].map((pattern) => (typeof pattern === 'string' ? new RegExp(`^${RegExp.escape(pattern)}$`) : pattern))

test('every text of every page comes from the catalogue', async () => {
  const visit = await dashboard.signedIn()
  const { page, open, openOfAccount, account } = visit
  const marked = await makeMarkedCatalogue()
  await page.route(/\/assets\/es-[^/]+\.js$/, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: marked }),
  )
  await preferLanguages(page, ['es-ES'])
  await send(visit.account, 'order-1')
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/marked` })
  const found = new Set<string>()
  const look = async (name: string) => {
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText(`${opening}Loading${closing}`, { exact: true }).first().waitFor({ state: 'detached' })
    for (const text of await listUnmarked(page))
      if (!dataPatterns.some((pattern) => pattern.test(text))) found.add(`${name}: ${text}`)
  }
  for (const name of pages) {
    await openOfAccount(name)
    await look(name)
  }
  await openOfAccount('messages')
  await page.getByRole('link', { name: '+34600111222' }).click()
  await page.getByRole('region', { name: '+34600111222' }).waitFor()
  await look('message')
  await open('/profile')
  await look('profile')
  await visit.context.clearCookies()
  for (const path of ['/sign-in', '/forgot-password', '/reset-password/none', '/invitation/none']) {
    await open(path)
    await look(path)
  }

  expect(marked.length).toBeGreaterThan(50_000)
  expect([...found]).toEqual([])
})
