import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobs as jobFacts } from '../../../contracts/facts/jobs.ts'
import { foldCounts } from '../../../src/messages/queries/counts-store.ts'
import { createJobLog, startProcessReport } from '../../../src/background/process-report.ts'
import { grantOperator } from '../../../src/users/operators.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { sendOne } from '../../support/callbacks.ts'
import { totp } from '../../support/user.ts'
import {
  type DashboardBrowser,
  findAccessibilityViolations,
  findViolationsInBothSchemes,
  password,
  useDashboard,
} from './support.ts'

const dashboard = useDashboard()
let report: { stop(): Promise<void> } | undefined

beforeAll(() => {
  const jobs = createJobLog(() => new Date())
  jobs.start(jobFacts.syncTemplates(), 15)({ failed: true })
  jobs.start(jobFacts.updateMessageCounts(), 10)({ failed: false })
  report = startProcessReport(dashboard.server.deps, { role: 'all', listJobs: jobs.list })
})

afterAll(() => report?.stop())

type Options = Parameters<DashboardBrowser['signedIn']>[0]

/** An operator with an authenticator app, set up over HTTP in the browser's session. */
async function signedInOperator(options?: Options) {
  const { server } = dashboard
  const visit = await dashboard.signedIn(options)
  const post = (path: string, data: object) =>
    visit.context.request.post(`${server.url}/settings/auth${path}`, { headers: { origin: server.url }, data })
  const { totpURI } = (await (await post('/two-factor/enable', { password })).json()) as { totpURI: string }
  const secret = new URL(totpURI).searchParams.get('secret') ?? ''
  expect((await post('/two-factor/verify-totp', { code: totp(secret) })).ok()).toBe(true)
  await grantOperator(server.deps, visit)
  await server.database.db.deleteFrom('owner_sign_in_rates').execute()
  return visit
}

test('says how to turn on two-factor authentication, and shows nothing else', async () => {
  const visit = await dashboard.signedIn()
  const { page } = visit
  await visit.open('/console')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()

  await grantOperator(dashboard.server.deps, visit)
  await visit.open('/console')

  await page.getByText('Set up an authenticator app', { exact: true }).waitFor()
  expect(await page.getByRole('region', { name: 'Accounts' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Go to your profile' }).click()
  await page.getByRole('heading', { name: 'Profile' }).waitFor()
})

test('suspends and resumes an account, and views it read-only', async () => {
  const shop = await dashboard.server.account()
  const { endpointId } = await addEndpoint(dashboard.server.deps, shop.accountId, {
    url: 'http://127.0.0.1:9/',
    events: ['message.sent'],
  })
  const { messageId } = await sendOne(shop)
  const { page, open } = await signedInOperator()
  await open('/')
  await page.getByRole('button', { name: /User menu/ }).click()
  await page.getByRole('menuitem', { name: 'Console' }).click()
  await page.getByRole('heading', { name: 'Console', exact: true }).waitFor()
  await page.getByLabel('Search accounts').fill(shop.accountId)
  const row = page.getByRole('row', { name: new RegExp(shop.accountId) })
  await row.getByText('Healthy').waitFor()

  await row.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Suspend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend account' }).click()
  await row.getByText('Suspended').waitFor()
  const refused = await shop.get('/api/v1/message')
  expect(refused.json().error.code).toBe('API_DISABLED')

  await row.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'View account' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'View account' }).click()
  await page.waitForURL(`**/settings/${shop.accountId}/overview`)
  const banner = page.getByRole('note', { name: 'Operator view' })
  await banner.getByText(/Read-only until/).waitFor()
  await page.getByRole('alert').getByText('This account is suspended').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
  await open(`/${shop.accountId}/messages`)
  await banner.waitFor()
  expect(await page.getByRole('button', { name: 'Export CSV' }).count()).toBe(0)
  const membersOnly = page.getByText('Only members of the account see payloads')
  for (const path of [`messages/${messageId}`, `webhooks/${endpointId}`]) {
    await open(`/${shop.accountId}/${path}`)
    await page.getByRole('button', { name: /^message.sent/ }).click()
    await membersOnly.waitFor()
    expect(await page.getByRole('button', { name: /payload/ }).count()).toBe(0)
  }
  await open(`/${shop.accountId}/audit-log`)
  await page.getByText('Opened the account to view it as an operator of this server').first().waitFor()
  await banner.getByRole('button', { name: 'Stop viewing' }).click()
  await page.getByRole('heading', { name: 'Console', exact: true }).waitFor()
  // The page knows it without loading again.
  await page.goBack()
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await open(`/${shop.accountId}/messages`)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()

  await open('/console')
  await page.getByLabel('Search accounts').fill(shop.accountId)
  await row.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Resume' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resume account' }).click()
  await row.getByText('Healthy').waitFor()
  expect((await shop.get('/api/v1/message')).statusCode).toBe(200)
})

test('creates an account with a link for its owner', async () => {
  const { page, open } = await signedInOperator()
  await open('/console')
  await page.getByRole('button', { name: 'Create account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Bakery')
  await dialog.getByLabel('Email address of its owner').fill('not an address')
  await dialog.getByRole('button', { name: 'Create account' }).click()
  await dialog.getByText(/Must be an email address/).waitFor()
  await dialog.getByLabel('Email address of its owner').fill('baker@example.com')
  await dialog.getByRole('button', { name: 'Create account' }).click()
  expect(await dialog.getByLabel('Invitation link', { exact: true }).inputValue()).toContain('/settings/invitation/')
  await dialog.getByRole('button', { name: 'Done' }).click()

  await page.getByRole('button', { name: 'Bakery', exact: true }).first().waitFor()
  await page.getByRole('combobox', { name: 'Order of accounts' }).click()
  await page.getByRole('option', { name: 'Longest lag first' }).click()
  await page.getByRole('button', { name: 'Bakery', exact: true }).first().waitFor()
})

test.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('is accessible and fits at $width px', async (viewport) => {
  await foldCounts(dashboard.server.deps.db)
  const { page, open } = await signedInOperator({ viewport })
  await open('/console')
  await page.getByRole('heading', { name: 'Console', exact: true }).waitFor()
  await page.getByText('Update message counts').waitFor()
  await page.getByText('Healthy').filter({ visible: true }).first().waitFor()

  expect(await findViolationsInBothSchemes(page)).toEqual([])
  const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  expect(await page.evaluate(isTooWide)).toBe(false)
})
