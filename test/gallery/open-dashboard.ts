import { type APIRequestContext, type BrowserContext, request } from 'playwright-core'
import { createLocalNotifications } from '../../src/platform/db/notifications.ts'
import { encodeId } from '../../src/platform/ids.ts'
import { inviteUser } from '../../src/users/invitation.ts'
import { grantOperator } from '../../src/users/operators.ts'
import { Worker } from '../../src/webhooks/queue/worker.ts'
import { type DashboardBrowser, joinAccount, password, signIn, startDashboard } from '../browser/dashboard/support.ts'
import { totp } from '../support/user.ts'
import { stopClock } from './clock.ts'
import { createCustomerEndpoints } from './customer-endpoints.ts'
import { createRandom, createRandomBytes } from './sales.ts'
import { now, opened, openShop, type Shop } from './shop.ts'

export interface ShopDashboard {
  dashboard: DashboardBrowser
  shop: Shop
  /** Signs in as the owner of the shop, who also operates the server. */
  signInTo(context: BrowserContext): Promise<void>
  close(): Promise<void>
}

const crmDownSince = now.getTime() - 95 * 60_000

/** Starts a server with the data of the shop, the same in every run, and a browser. */
export async function openShopDashboard(): Promise<ShopDashboard> {
  const clock = stopClock(opened)
  const randomBytes = createRandomBytes(1)
  const webhooks = createCustomerEndpoints(createRandom(2), () => Date.now() > crmDownSince)
  const dashboard = await startDashboard({
    deps: {
      webhooks,
      randomBytes,
      newId: (prefix, at) => encodeId(prefix, at?.getTime() ?? Date.now(), randomBytes(10)),
      notifications: createLocalNotifications(),
    },
    server: { sandbox: false },
    requestLog: { flushMilliseconds: 1, perMinute: 100_000, bodiesPerMinute: 100_000 },
  })
  const { server } = dashboard
  await clock.attach(server.database.db)
  const retries = { timeoutSeconds: 1, retrySeconds: [300, 1800, 7200], allowPrivate: true }
  const worker = new Worker(server.deps, retries, { pollMilliseconds: 20, random: () => 0.5 })
  worker.start()
  const shop = await openShop(server, clock)
  await worker.stop({ graceMilliseconds: 1000 })
  await invitePeople(dashboard, shop)
  return {
    dashboard,
    shop,
    signInTo: (context) => signInOwner(dashboard, shop, context),
    close: async () => {
      clock.restore()
      await dashboard.close()
    },
  }
}

const owner = 'ada@example.com'
const colleague = 'grace@example.com'

async function invitePeople({ server }: DashboardBrowser, { accountId }: Shop): Promise<void> {
  const caller = await newCaller()
  await signIn(server, { context: { request: caller } }, accountId, 'viewer', colleague, 'Grace Hopper')
  await caller.dispose()
  await inviteUser(server.deps, accountId, { email: 'alan@example.com', role: 'viewer' })
}

/** Signs in without a browser, whose clock is not stopped: the session could have expired by it. */
function newCaller(): Promise<APIRequestContext> {
  return request.newContext({
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  })
}

async function signInOwner({ server }: DashboardBrowser, shop: Shop, context: BrowserContext): Promise<void> {
  const caller = await newCaller()
  await signIn(server, { context: { request: caller } }, shop.accountId, 'owner', owner)
  await joinAccount(server, { request: caller }, { accountId: shop.emptyAccountId, email: owner })
  const post = async (path: string, data: object) => {
    const response = await caller.post(`${server.url}/settings/auth${path}`, { headers: { origin: server.url }, data })
    if (!response.ok()) throw new Error(`${path} answered ${await response.text()}`)
    return (await response.json()) as { totpURI?: string }
  }
  const { totpURI = '' } = await post('/two-factor/enable', { password })
  await post('/two-factor/verify-totp', { code: totp(new URL(totpURI).searchParams.get('secret') ?? '') })
  await grantOperator(server.deps, { email: owner })
  const { cookies } = await caller.storageState()
  await context.addCookies(cookies.map((cookie) => ({ ...cookie, expires: -1 })))
  await caller.dispose()
}
