import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import type { getApiAccess, IssuedKey } from '../../contracts/dashboard/public-api.ts'
import type { OutputOf } from '../../contracts/procedure.ts'
import { forFile } from '../support/lifetime.ts'
import { signedInOwner } from '../support/user.ts'
import { startTestServer } from '../support/server.ts'

const server = await forFile(startTestServer({ server: { trustedProxies: ['loopback'] } }))
const account = await server.account({ rateLimit: 60 })
const owner = await signedInOwner(server, account.accountId)

const read = async () =>
  (await owner.query<OutputOf<typeof getApiAccess>>('publicApi.get', { accountId: account.accountId })).data
const change = (name: string, input: object = {}) =>
  owner.mutate<IssuedKey>(`publicApi.${name}`, { accountId: account.accountId, ...input })

function send(apiKey: string, address = '198.51.100.7'): Promise<number> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'x-forwarded-for': address }
  const body = JSON.stringify(sendMessage.example.input)
  return server.request('POST', sendMessage.path, { headers, body }).then(({ statusCode }) => statusCode)
}

test('shows a key once, then its first characters and the minute of its last use', async () => {
  await change('revokeKey')
  expect(await read()).toMatchObject({ enabled: true, rateLimit: { limit: 60 } })
  expect((await read()).key).toBeUndefined()

  const { data: issued } = await change('generateKey')
  expect(issued.apiKey).toMatch(/^wb_live_[0-9a-f]{64}$/)
  expect((await read()).key).toEqual({ start: issued.start, createdAt: expect.any(String) })
  expect(JSON.stringify(await read())).not.toContain(issued.apiKey)

  expect(await send(issued.apiKey)).toBe(200)
  const after = await read()
  expect(after.key?.lastUsedAt).toBeDefined()
  expect(after.rateLimit.used).toBeGreaterThan(0)
})

test('shows the last send with an earlier key until the new one is used in another minute', async () => {
  const first = (await change('regenerateKey')).data.apiKey
  expect(await send(first)).toBe(200)

  const second = (await change('regenerateKey')).data.apiKey
  const { key } = await read()
  expect(key?.lastUsedAt).toBeUndefined()
  expect(Date.parse(key?.earlierUseAt ?? '')).toBeLessThan(Date.parse(key?.createdAt ?? ''))

  // The minute of the earlier send ends.
  const { db } = server.deps
  const ended = { window_started_at: new Date(Date.parse(key?.createdAt ?? '') - 120_000) }
  await db.updateTable('rate_limits').set(ended).where('account_id', '=', account.accountId).execute()
  expect(await send(second)).toBe(200)
  const used = (await read()).key
  expect(used?.lastUsedAt).toBeDefined()
  expect(used?.earlierUseAt).toBeUndefined()
})

test('rejects generating a second key and invalidates a replaced one immediately', async () => {
  const first = (await change('regenerateKey')).data.apiKey

  const refused = await change('generateKey')
  const second = (await change('regenerateKey')).data.apiKey

  expect(refused).toMatchObject({ statusCode: 409, error: { data: { code: 'SETTING_REFUSED' } } })
  expect(refused.error.message).not.toContain('waybill ')
  expect(await Promise.all([send(first), send(second)])).toEqual([401, 200])
})

test('enables and disables API access', async () => {
  const { apiKey } = (await change('regenerateKey')).data

  await change('setAccess', { enabled: false })
  const whileOff = await send(apiKey)
  await change('setAccess', { enabled: true })

  expect([whileOff, await send(apiKey)]).toEqual([403, 200])
})

test('normalizes the allow-list and shows whether it includes the current address', async () => {
  const { apiKey } = (await change('regenerateKey')).data

  const set = await change('setAllowList', { allowList: ['198.51.100.0/24', ' 2001:DB8::1 ', '198.51.100.77/24'] })

  expect(set.data).toEqual({ allowList: ['198.51.100.0/24', '2001:db8::1'] })
  expect((await read()).you).toEqual({ address: '127.0.0.1', allowed: false })
  expect(await Promise.all([send(apiKey), send(apiKey, '203.0.113.1')])).toEqual([200, 403])
  await change('setAllowList', { allowList: [] })
  expect((await read()).you.allowed).toBe(true)
})

test('replaces only the allow-list that was read, if it is named', async () => {
  await change('setAllowList', { allowList: ['192.0.2.1'] })
  const add = (entry: string) => change('setAllowList', { allowList: ['192.0.2.1', entry], replaces: ['192.0.2.1'] })

  const [saved, rejected] = (await Promise.all([add('192.0.2.2'), add('192.0.2.3')])).toSorted(
    (a, b) => a.statusCode - b.statusCode,
  )

  expect(rejected).toMatchObject({ statusCode: 409, error: { data: { code: 'SETTING_REFUSED' } } })
  expect(saved?.data).toEqual({ allowList: (await read()).allowList })
})

test.each([
  { entry: '300.1.1.1', says: 'is neither an IP address nor a CIDR range' },
  { entry: '', says: 'must not be empty' },
])('reports an invalid entry with its field and keeps the previous list: $entry', async ({ entry, says }) => {
  const before = ['192.0.2.1']
  await change('setAllowList', { allowList: before })

  const { statusCode, error } = await change('setAllowList', { allowList: ['192.0.2.2', entry] })

  expect(statusCode).toBe(400)
  expect(Object.entries(error.data.fields ?? {})).toEqual([
    [expect.stringMatching(/^allowList/), expect.stringContaining(says)],
  ])
  expect((await read()).allowList).toEqual(before)
})
