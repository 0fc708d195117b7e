import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Role } from '../../../contracts/procedure.ts'
import { buildDashboard } from '../../../src/packaging/build-dashboard.ts'
import { inviteUser } from '../../../src/users/invitation.ts'
import { startTestServer, type TestAccount, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { launchChromium } from '../chromium.ts'

export interface DashboardBrowser {
  server: TestServer
  /** Opens a browser context without a session. */
  visit(options?: VisitOptions): Promise<Visit>
  /** Creates an account and signs in as its owner or a viewer. */
  signedIn(options?: VisitOptions & { role?: Role }): Promise<SignedInVisit>
  close(): Promise<void>
}

interface VisitOptions {
  colorScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
}

export interface Visit {
  context: BrowserContext
  page: Page
  /** Requests to other hosts, content security policy violations and errors. Expected to stay empty. */
  pageErrors: string[]
  /** Opens a page of the dashboard, such as `/sign-in`. */
  open(path: string): Promise<void>
}

export interface SignedInVisit extends Visit {
  account: TestAccount
  email: string
  /** Opens a page of the account, such as `public-api`. */
  openOfAccount(path: string): Promise<void>
}

export const password = 'correct horse battery staple'

/** Starts a server with a fresh build of the dashboard, and a browser. */
export async function startDashboard(options?: TestServerOptions): Promise<DashboardBrowser> {
  await buildDashboard()
  const [browser, server] = await Promise.all([launchChromium(), startTestServer(options)])
  const visit = (options: VisitOptions = {}) => startVisit(browser, server, options)
  return {
    server,
    visit,
    signedIn: async ({ role = 'owner', ...options } = {}) => {
      const [account, guest] = await Promise.all([server.account(), visit(options)])
      const email = await signIn(server, guest, account.accountId, role)
      return { ...guest, account, email, openOfAccount: (path) => guest.open(`/${account.accountId}/${path}`) }
    },
    close: async () => {
      await browser.close()
      await server.close()
    },
  }
}

async function startVisit(
  browser: Browser,
  server: TestServer,
  { colorScheme = 'light', viewport = { width: 1280, height: 900 } }: VisitOptions,
): Promise<Visit> {
  const context = await browser.newContext({
    viewport,
    colorScheme,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const pageErrors: string[] = []
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== server.url) pageErrors.push(`asks ${request.url()}`)
  })
  page.on('console', (message) => {
    const text = message.text()
    // The browser logs every 4xx response, which tests may expect.
    if (/^Failed to load resource: .* status of 4\d\d/.test(text)) return
    if (message.type() === 'error' || message.type() === 'warning') pageErrors.push(text)
  })
  page.on('pageerror', (error) => pageErrors.push(error.message))
  return { context, page, pageErrors, open: async (path) => void (await page.goto(`${server.url}/settings${path}`)) }
}

let people = 0

/** Invites the user, accepts the invitation and signs in over HTTP. */
async function signIn(server: TestServer, { context }: Visit, accountId: string, role: Role): Promise<string> {
  const email = `person${++people}@example.com`
  const { path } = await inviteUser(server.deps, accountId, { email, role })
  // All users of a test share one IP address.
  await server.database.db.deleteFrom('owner_sign_in_rates').execute()
  const headers = { origin: server.url }
  for (const [url, data] of [
    ['/settings/trpc/settings.invitation.accept', { token: path.split('/').at(-1), name: 'Ada Lovelace', password }],
    ['/settings/auth/sign-in/email', { email, password }],
  ] as const) {
    const response = await context.request.post(server.url + url, { headers, data })
    if (!response.ok()) throw new Error(`${url} answered ${await response.text()}`)
  }
  return email
}

interface AxeResults {
  violations: { id: string; impact: string | null; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

/** Serious and critical violations found by axe-core (WCAG 2.2 A and AA, among others). */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  // Evaluated, because the content security policy blocks script tags.
  await page.evaluate(readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'))
  // Contrast is too low while elements fade in.
  await page.evaluate('Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {})))')
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html} ${node.failureSummary ?? ''}`))
}
