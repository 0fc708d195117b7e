import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { RunOptions } from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import type { Role } from '../../../contracts/procedure.ts'
import { buildDashboard } from '../../../src/packaging/build-dashboard.ts'
import { inviteUser } from '../../../src/users/invitation.ts'
import { patience } from '../../support/patience.ts'
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
  /** Opens a browser context that stays open until the caller or the browser closes it, such as for all tests of a file. */
  outlivesTest?: boolean
  colorScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
}

export interface Visit {
  context: BrowserContext
  page: Page
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

/** A dashboard for the tests of a file, which can use it once they run. */
export function useDashboard(options?: TestServerOptions): DashboardBrowser {
  const dashboard = {} as DashboardBrowser
  beforeAll(async () => {
    Object.assign(dashboard, await startDashboard(options))
  })
  // Without it if the start failed.
  afterAll(() => (dashboard as Partial<DashboardBrowser>).close?.())
  return dashboard
}

/** Starts a server with a fresh build of the dashboard, and a browser. Pages may send requests to `otherOrigins`. */
export async function startDashboard(
  options?: TestServerOptions,
  otherOrigins: string[] = [],
): Promise<DashboardBrowser> {
  await buildDashboard()
  const [browser, server] = await Promise.all([launchChromium(), startTestServer(options)])
  const contexts = new Contexts(browser, server.url)
  const visit = (options: VisitOptions = {}) => startVisit(contexts, [server.url, ...otherOrigins], options)
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

/**
 * Browser contexts that are cleared after each test and reused. Their caches contain the dashboard, which halves the
 * load time of the first page of a test. Open pages are closed, because they would continue to poll the server.
 */
class Contexts {
  private readonly free: BrowserContext[] = []
  private readonly browser: Browser
  private readonly origin: string

  constructor(browser: Browser, origin: string) {
    this.browser = browser
    this.origin = origin
  }

  /** Returns a context without a session, only for the running test. */
  async lease(): Promise<BrowserContext> {
    const context = this.free.pop() ?? (await this.create())
    onTestFinished(async () => {
      await this.clear(context)
      this.free.push(context)
    })
    return context
  }

  async create(): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      permissions: ['clipboard-read', 'clipboard-write'],
      // A button of a dialog that is still moving is missed by a click on a busy machine.
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(patience.expect.poll.timeout)
    return context
  }

  private async clear(context: BrowserContext): Promise<void> {
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    context.removeAllListeners()
    const [page, ...others] = context.pages()
    await Promise.all(others.map((other) => other.close()))
    if (page) {
      const session = await context.newCDPSession(page)
      await session.send('Storage.clearDataForOrigin', { origin: this.origin, storageTypes: 'local_storage,indexeddb' })
      await page.close()
    }
    await context.clearCookies()
  }
}

/** The test fails if the page sends requests to another host, violates the content security policy or logs an error. */
async function startVisit(
  contexts: Contexts,
  origins: [string, ...string[]],
  { colorScheme = 'light', viewport = { width: 1280, height: 900 }, outlivesTest = false }: VisitOptions,
): Promise<Visit> {
  const context = await (outlivesTest ? contexts.create() : contexts.lease())
  const page = await context.newPage()
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
  const pageErrors: string[] = []
  if (!outlivesTest) {
    onTestFinished(() => expect(pageErrors).toEqual([]))
    onTestFinished(({ task }) => showIfFailed(task.result?.state, page))
  }
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && !origins.includes(origin))
      pageErrors.push(`asks ${request.url()}`)
  })
  page.on('console', (message) => {
    const text = message.text()
    // The browser logs every 4xx response, those of a busy server and broken connections, which tests may expect.
    if (/^Failed to load resource: (.* status of (4\d\d|503)|net::ERR_)/.test(text)) return
    if (message.type() === 'error' || message.type() === 'warning') pageErrors.push(text)
  })
  page.on('pageerror', (error) => pageErrors.push(error.message))
  return { context, page, open: async (path) => void (await page.goto(`${origins[0]}/settings${path}`)) }
}

/** Prints the page that a failed test saw. */
async function showIfFailed(state: string | undefined, page: Page): Promise<void> {
  if (state !== 'fail' || page.isClosed()) return
  console.log(`${page.url()} showed:\n${await page.locator('body').innerText()}`)
}

let people = 0

/** Invites the user, accepts the invitation and signs in over HTTP. */
export async function signIn(
  server: TestServer,
  { context }: { context: Pick<BrowserContext, 'request'> },
  accountId: string,
  role: Role,
  email = `person${++people}@example.com`,
  name = 'Ada Lovelace',
): Promise<string> {
  const { path } = await inviteUser(server.deps, accountId, { email, role })
  // All users of a test share one IP address.
  await server.database.db.deleteFrom('owner_sign_in_rates').execute()
  await acceptInvitation(server, context, path, name)
  const signedIn = await context.request.post(`${server.url}/settings/auth/sign-in/email`, {
    headers: { origin: server.url },
    data: { email, password },
  })
  if (!signedIn.ok()) throw new Error(`no sign-in: ${await signedIn.text()}`)
  return email
}

/** Makes a signed-in user an owner of another account. */
export async function joinAccount(
  server: TestServer,
  context: Pick<BrowserContext, 'request'>,
  { accountId, email }: { accountId: string; email: string },
): Promise<void> {
  const { path } = await inviteUser(server.deps, accountId, { email, role: 'owner' })
  await acceptInvitation(server, context, path)
}

async function acceptInvitation(
  server: TestServer,
  context: Pick<BrowserContext, 'request'>,
  path: string,
  name = 'Ada Lovelace',
): Promise<void> {
  const accepted = await context.request.post(`${server.url}/settings/trpc/settings.invitation.accept`, {
    headers: { origin: server.url },
    data: { token: path.split('/').at(-1), name, password },
  })
  if (!accepted.ok()) throw new Error(`the invitation was not accepted: ${await accepted.text()}`)
}

interface AxeResults {
  violations: { id: string; impact: string | null; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

/** Serious and critical violations found by axe-core (WCAG 2.2 A and AA, among others) in the colour scheme that is shown. */
export function findAccessibilityViolations(page: Page): Promise<string[]> {
  return runAxe(page, { resultTypes: ['violations'] })
}

/** Also finds what has too little contrast in the other colour scheme. The page must follow that of the system. */
export async function findViolationsInBothSchemes(page: Page): Promise<string[]> {
  const violations = await findAccessibilityViolations(page)
  const shown = await page.evaluate<string>(shownScheme)
  const other = shown === 'dark' ? 'light' : 'dark'
  await showScheme(page, other)
  const inOther = await runAxe(page, {
    resultTypes: ['violations'],
    runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  })
  await showScheme(page, shown === 'dark' ? 'dark' : 'light')
  return [...violations, ...inOther.map((violation) => `${other}: ${violation}`)]
}

const shownScheme = 'document.documentElement.dataset.mantineColorScheme'

async function showScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await expect.poll(() => page.evaluate(shownScheme)).toBe(colorScheme)
}

async function runAxe(page: Page, options: RunOptions): Promise<string[]> {
  // Evaluated, because the content security policy blocks script tags.
  if (!(await page.evaluate('"axe" in window')))
    await page.evaluate(readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'))
  // Contrast is too low while old figures are dimmed until the new ones arrive, and while elements fade in.
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  await page.evaluate('Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {})))')
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html} ${node.failureSummary ?? ''}`))
}
