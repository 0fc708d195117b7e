import { afterEach, expect, test } from 'vitest'
import { setMarketing } from '../../../src/whatsapp-accounts/change.ts'
import { checkDueAccounts, checkNow } from '../../../src/whatsapp-accounts/health/check.ts'
import { failWith } from '../../../src/whatsapp/simulator/errors.ts'
import type { Simulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { changeCallback, post, report, sendOne, status } from '../../support/callbacks.ts'
import { readStoredHealth, setHealth } from '../../support/health.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { syncTemplates } from '../../../src/templates/sync.ts'
import { signedInOwner } from '../../support/user.ts'

const server = await forFile(startTestServer())
let account: TestAccount
afterEach(() => server.simulator.intercept(undefined))

const offer = { to: '34600111222', template: 'autumn_offer', language: 'en' }

/** A customer with a marketing template, whose business account is in this state. */
async function customer(marketing: Parameters<Simulator['setMarketing']>[1] = {}): Promise<void> {
  account = await server.account()
  server.simulator.setMarketing(account.wabaId, marketing)
  await account.template({
    name: 'autumn_offer',
    language: 'en',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'Everything for less.' }],
  })
  await check()
  await ageCheck()
}

/** As if the last check of the account had been a while ago. */
async function ageCheck(): Promise<void> {
  await setHealth(server.deps, account, { marketing_checked_at: new Date(Date.now() - 600_000) })
}

const ref = () => ({ accountId: account.accountId, whatsAppAccountId: account.whatsAppAccountId })
const check = () => checkNow(server.deps, ref())
const send = (request: object = {}, headers = {}) =>
  account.post('/api/v1/message/send', { ...offer, ...request }, headers)

/** The endpoints that the sends of this account used, in order. */
function edges(): (string | undefined)[] {
  return server.simulator.requests
    .filter(({ method, path }) => method === 'POST' && path.startsWith(`/${account.phoneNumberId}/`))
    .map(({ path }) => path.split('/').at(-1))
}

async function readHealth() {
  const { whatsAppAccounts } = await account.trpc.account.health.query({})
  const [health] = whatsAppAccounts
  return health && { ...health, findings: health.findings.filter(({ code }) => code.startsWith('marketing_')) }
}

test('sends marketing templates of an onboarded account to their endpoint, and all others to /messages', async () => {
  await customer()

  expect((await send()).statusCode).toBe(200)
  expect((await send({ template: 'order_shipped', variables: { 1: 'Ada', 2: 'A-1' } })).statusCode).toBe(200)

  expect(edges()).toEqual(['marketing_messages', 'messages'])
  expect(await readHealth()).toMatchObject({
    findings: [],
    marketing: {
      setting: 'automatic',
      endpoint: 'marketing_messages',
      onboardingStatus: 'ONBOARDED',
      offCloudApi: false,
    },
  })
})

test.each([
  'ELIGIBLE',
  'PENDING_VALID_PAYMENT_METHOD',
  'PENDING_INTERNAL_SETUP',
  'INELIGIBLE_COUNTRY_NOT_SUPPORTED',
  'A_STATUS_OF_NEXT_YEAR',
])('sends everything to /messages while the account is %s, and says what to do', async (onboardingStatus) => {
  await customer({ onboardingStatus })

  expect((await send()).statusCode).toBe(200)

  expect(edges()).toEqual(['messages'])
  expect(await readHealth()).toMatchObject({
    findings: [
      { code: 'marketing_not_onboarded', severity: 'warning', message: expect.stringContaining(onboardingStatus) },
    ],
    marketing: { endpoint: 'messages', onboardingStatus },
  })
})

test('reports no finding for an account without marketing templates', async () => {
  account = await server.account()
  server.simulator.setMarketing(account.wabaId, { onboardingStatus: 'ELIGIBLE' })
  const list = server.simulator.templatesOf(account.wabaId)
  for (const { name, language } of list.all()) list.set(name, language, { category: 'UTILITY' })
  await account.template({ name: 'plain', language: 'en', components: [{ type: 'BODY', text: 'Hello.' }] })

  await check()

  expect((await readHealth())?.findings).toEqual([])
})

test('reports an error if both endpoints reject marketing templates', async () => {
  await customer({ onboardingStatus: 'ELIGIBLE', offCloudApi: true })

  expect((await send()).json().error).toMatchObject({
    code: 'MESSAGE_REJECTED',
    message: expect.stringContaining('131063'),
  })
  expect(await readHealth()).toMatchObject({
    healthy: false,
    canSend: true,
    findings: [{ code: 'marketing_rejected', severity: 'error' }],
  })
})

test('uses only /messages if the account is set to it, also after a rejection of the endpoint', async () => {
  await customer({ offCloudApi: true })
  await setMarketing(server.deps, ref(), 'cloud_api')

  expect((await send()).json().error).toMatchObject({ code: 'MESSAGE_REJECTED' })
  expect(edges()).toEqual(['messages'])

  await setMarketing(server.deps, ref(), 'automatic')
  expect((await send()).statusCode).toBe(200)
  expect(edges()).toEqual(['messages', 'marketing_messages'])
})

test('lets WhatsApp fall back if the onboarding ended after the last check', async () => {
  await customer()
  server.simulator.setMarketing(account.wabaId, { onboardingStatus: 'PENDING_VALID_PAYMENT_METHOD' })

  expect((await send()).statusCode).toBe(200)
  expect(edges()).toEqual(['marketing_messages'])
})

test('fails once if the onboarding ended after the last check, and the account has no other endpoint', async () => {
  await customer({ offCloudApi: true })
  server.simulator.setMarketing(account.wabaId, { onboardingStatus: 'PENDING_VALID_PAYMENT_METHOD', offCloudApi: true })

  const response = await send({}, { 'idempotency-key': 'ended' })

  expect(response.json().error).toMatchObject({ code: 'MESSAGE_REJECTED', message: expect.stringContaining('131063') })
  expect(edges()).toEqual(['marketing_messages'])
  expect((await account.trpc.message.list.query({})).items).toMatchObject([{ status: 'failed' }])
})

test('changes the endpoint once, records one message, and reads template and onboarding again', async () => {
  await customer()
  server.simulator.templatesOf(account.wabaId).set('autumn_offer', 'en', { category: 'UTILITY' })

  const response = await send({}, { 'idempotency-key': 'one' })
  const repeated = await send({}, { 'idempotency-key': 'one' })

  expect(response.statusCode).toBe(200)
  expect(repeated.json().data).toEqual(response.json().data)
  expect(edges()).toEqual(['marketing_messages', 'messages'])
  const stored = () => account.trpc.template.get.query({ name: 'autumn_offer', language: 'en' })
  await expect.poll(async () => (await stored()).category).toBe('UTILITY')
  await send()
  expect(edges()).toEqual(['marketing_messages', 'messages', 'messages'])
})

test('finds out that /messages rejects marketing templates, and uses their endpoint from then on', async () => {
  await customer({ onboardingStatus: 'ELIGIBLE' })
  server.simulator.setMarketing(account.wabaId, { onboardingStatus: 'ONBOARDED', offCloudApi: true })

  expect((await send()).statusCode).toBe(200)
  expect(edges()).toEqual(['messages', 'marketing_messages'])
  const { next_check_at } = await readStoredHealth(server.deps, account)
  expect(next_check_at.getTime()).toBeLessThanOrEqual(Date.now())
})

test.each([
  { forbidden: ['marketing_messages'], statusCode: 200, canSend: true },
  { forbidden: ['marketing_messages', 'messages'], statusCode: 400, canSend: false },
])('sends once more by /messages if the token may not use $forbidden', async ({ forbidden, statusCode, canSend }) => {
  await customer()
  server.simulator.intercept(({ path }) =>
    forbidden.includes(path.split('/').at(-1) ?? '') ? failWith(10) : undefined,
  )

  expect((await send()).statusCode).toBe(statusCode)

  expect(edges()).toEqual(['marketing_messages', 'messages'])
  expect(await readHealth()).toMatchObject({ canSend })
})

test('checks the onboarding at once when WhatsApp reports that the terms were accepted', async () => {
  await customer({ onboardingStatus: 'ELIGIBLE' })
  server.simulator.setMarketing(account.wabaId, { onboardingStatus: 'ONBOARDED' })
  const terms = { event: 'MM_LITE_TERMS_SIGNED', waba_info: { waba_id: account.wabaId, owner_business_id: '506' } }

  expect((await post(server, changeCallback('506', 'account_update', terms))).statusCode).toBe(200)

  await checkDueAccounts(server.deps)
  await send()
  expect(edges()).toEqual(['marketing_messages'])
})

test('checks the onboarding at once if WhatsApp says that a marketing template is not available', async () => {
  await customer()
  server.simulator.setMarketing(account.wabaId, { onboardingStatus: 'ELIGIBLE' })
  server.simulator.intercept(({ path }) => (path.endsWith('/marketing_messages') ? failWith(134102) : undefined))

  expect((await send()).json()).toMatchObject({ error: { code: 'WHATSAPP_UNAVAILABLE' } })
  await checkDueAccounts(server.deps)
  expect((await send()).statusCode).toBe(200)

  expect(edges()).toEqual(['marketing_messages', 'messages'])
})

test('checks an account at most once in five minutes because of rejected messages', async () => {
  await customer()
  server.simulator.intercept(({ path }) => (path.endsWith('/marketing_messages') ? failWith(134102) : undefined))
  const countChecks = () =>
    server.simulator.requests.filter(
      ({ path, query }) => path === `/${account.wabaId}` && query.get('fields')?.includes('onboarding_status'),
    ).length
  const before = countChecks()

  for (let sends = 0; sends < 3; sends += 1) {
    await send()
    await checkDueAccounts(server.deps)
  }

  expect(countChecks()).toBe(before + 1)
})

const mismatch = {
  kind: 'json',
  status: 400,
  body: { error: { message: '(#132000) Number of parameters does not match', code: 132_000 } },
} as const

test('lists the templates at most once in five minutes because of rejected messages', async () => {
  await customer()
  server.simulator.intercept(({ path }) => (path.endsWith('/marketing_messages') ? mismatch : undefined))
  const countLists = () =>
    server.simulator.requests.filter(({ path }) => path === `/${account.wabaId}/message_templates`).length
  const before = countLists()

  for (let sends = 0; sends < 3; sends += 1) await send()

  await expect.poll(countLists).toBe(before + 1)
})

test('keeps the outcome unknown if the answer of the second endpoint is lost, until a status settles it', async () => {
  await customer()
  server.simulator.intercept(({ path }) => {
    if (path.endsWith('/marketing_messages')) return failWith(131055)
    return path.endsWith('/messages') ? { kind: 'drop' } : undefined
  })

  const response = await send({}, { 'idempotency-key': 'lost' })
  expect(response.json().error).toMatchObject({ code: 'SEND_OUTCOME_UNKNOWN' })
  expect((await send({}, { 'idempotency-key': 'lost' })).statusCode).toBe(409)
  expect(edges()).toEqual(['marketing_messages', 'messages'])

  const { items } = await account.trpc.message.list.query({})
  const messageId = items[0]?.messageId ?? ''
  expect(items).toMatchObject([{ status: 'pending' }])
  await report(server, account, [status('delivered', 'wamid.late', { callbackData: messageId })])
  expect(await account.trpc.message.get.query({ messageId })).toMatchObject({ status: 'delivered' })
})

test('routes by the category that WhatsApp has completed, not by one that it has announced', async () => {
  await customer()
  const template = { message_template_id: 1, message_template_name: 'autumn_offer', message_template_language: 'en' }
  const change = async (value: object) =>
    post(server, changeCallback(account.wabaId, 'template_category_update', { ...template, ...value }))

  await change({ correct_category: 'UTILITY', new_category: 'MARKETING', category_update_timestamp: 1_790_000_000 })
  await send()
  expect(edges()).toEqual(['marketing_messages'])

  await change({ previous_category: 'MARKETING', new_category: 'UTILITY' })
  await send()
  expect(edges()).toEqual(['marketing_messages', 'messages'])
})

test('applies and counts statuses that the Marketing Messages API has priced', async () => {
  await customer()
  const { messageId, waMessageId } = (await send()).json().data as { messageId: string; waMessageId: string }

  const pricing = { billable: true, pricing_model: 'PMP', category: 'marketing_lite' }
  await report(server, account, [
    {
      ...status('delivered', waMessageId, { callbackData: messageId }),
      pricing,
      conversation: { id: 'c', origin: { type: 'marketing_lite' } },
    },
  ])

  const row = await server.deps.db
    .selectFrom('messages')
    .select(['status', 'pricing'])
    .where('id', '=', messageId)
    .executeTakeFirstOrThrow()
  expect(row).toEqual({ status: 'delivered', pricing: 'marketing_lite' })
})

test.each([
  { category: 'UTILITY', endpoint: 'messages' },
  { category: 'MARKETING', endpoint: 'marketing_messages' },
])('names the messaging account that pays for $category, if it is set to', async ({ category, endpoint }) => {
  const account = await server.account()
  const { accountId, whatsAppAccountId, wabaId, phoneNumberId } = account
  const owner = await signedInOwner(server, accountId)
  server.simulator.templatesOf(wabaId).set('order_shipped', 'en', { category })
  await syncTemplates(server.deps, accountId)
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ marketing_onboarding_status: 'ONBOARDED' })
    .where('id', '=', whatsAppAccountId)
    .execute()

  for (const setting of ['omit', 'send', 'omit'] as const) {
    const changed = await owner.mutate('whatsAppAccount.setMessagingAccount', { accountId, whatsAppAccountId, setting })
    expect(changed.data).toMatchObject({ messagingAccountSetting: setting })
    await sendOne(account)
  }

  const bodies = server.simulator.requests.filter(({ path }) => path === `/${phoneNumberId}/${endpoint}`)
  expect(bodies.map(({ body }) => (body as Record<string, unknown>)['messaging_account_id'])).toEqual([
    undefined,
    wabaId,
    undefined,
  ])
})
