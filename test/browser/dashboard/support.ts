import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Role } from '../../../contracts/procedure.ts'
import { buildDashboard } from '../../../src/packaging/build-dashboard.ts'
import { inviteOwner } from '../../../src/users/invitation.ts'
import { startTestServer, type TestAccount, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { launchChromium } from '../chromium.ts'

export interface DashboardBrowser {
  server: TestServer
  /** Somebody without a session. */
  visit(options?: VisitOptions): Promise<Visit>
  /** A fresh account, and its owner, or a viewer, in front of the dashboard. */
  signedIn(options?: VisitOptions & { role?: Role }): Promise<SignedInVisit>
  close(): Promise<void>
}

export interface VisitOptions {
  colorScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
}

export interface Visit {
  context: BrowserContext
  page: Page
  /** What must not happen: requests to other hosts, violations of the content policy, errors. */
  complaints: string[]
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

/** A server that serves the dashboard as it is now, and a browser. */
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
  const complaints: string[] = []
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== server.url) complaints.push(`asks ${request.url()}`)
  })
  page.on('console', (message) => {
    const text = message.text()
    // A refusal is an answer; the browser notes it by itself.
    if (/^Failed to load resource: .* status of 4\d\d/.test(text)) return
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(text)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { context, page, complaints, open: async (path) => void (await page.goto(`${server.url}/settings${path}`)) }
}

let people = 0

/** Through the server's own doors: invited, accepted, signed in. */
async function signIn(server: TestServer, { context }: Visit, accountId: string, role: Role): Promise<string> {
  const email = `person${++people}@example.com`
  const { path } = await inviteOwner(server.deps, accountId, { email, role })
  // All people of a test come from one address.
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

/** What axe-core finds wrong with the page and calls serious or critical (WCAG 2.2, A and AA, among others). */
export async function findBarriers(page: Page): Promise<string[]> {
  // Evaluated, since the content policy lets no script tag in.
  await page.evaluate(readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'))
  // What is fading in has the contrast of what is fading in.
  await page.evaluate('Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {})))')
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html} ${node.failureSummary ?? ''}`))
}
