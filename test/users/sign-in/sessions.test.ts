import type { KyselyPlugin } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { inEnglish } from '../../../contracts/facts/fact.ts'
import { listAudit } from '../../../src/users/audit/audit.ts'
import { createSessionTracker, describeDevice } from '../../../src/users/sign-in/sessions.ts'
import type { Session } from '../../../contracts/dashboard/session.ts'
import { forFile } from '../../support/lifetime.ts'
import { recordStatements } from '../../support/record-statements.ts'
import { signedInOwner, type TestOwner, visitor } from '../../support/user.ts'
import { nodeForTest, startTestServer } from '../../support/server.ts'
import { eventually } from '../../support/eventually.ts'

const server = await forFile(startTestServer())
const node = await forFile(startTestServer({ beside: server }))
const account = await server.account()

afterEach(() => server.deps.db.deleteFrom('owner_sign_in_rates').execute())

async function sessionsOf(person: TestOwner): Promise<Session[]> {
  return (await person.query<{ items: Session[] }>('session.list')).data.items
}

test('lists the sessions of a user with device, address and the last use, and marks the current one', async () => {
  const person = await signedInOwner(server, account.accountId)
  const laptop = visitor(node, person.email)
  await laptop.signIn()
  await eventually(async () =>
    expect((await sessionsOf(laptop)).every((item) => item.address === '127.0.0.1')).toBe(true),
  )

  const items = await sessionsOf(laptop)

  expect(items).toHaveLength(2)
  expect(items.filter(({ current }) => current)).toHaveLength(1)
  expect(items[0]).toMatchObject({ device: 'Unknown device', address: '127.0.0.1', lastSeenAt: expect.any(String) })
  expect(JSON.stringify(items)).not.toContain('token')
})

test('records the use of a session every few minutes, however often its address changes', async () => {
  const { db, statements } = recordStatements(server.deps.db)
  let at = 0
  const track = createSessionTracker({ ...server.deps, db, now: () => new Date(at) })
  for (let use = 0; use < 10; use++) track('ses', `192.0.2.${use % 2}`)
  expect(statements).toHaveLength(1)
  at += 5 * 60_000
  track('ses', '192.0.2.1')
  expect(statements).toHaveLength(2)
})

test('reads a session again if the database fails once, and logs the code of the failure', async () => {
  const person = await signedInOwner(server, account.accountId)
  let failures = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node: query }) => {
      const isRead = query.kind === 'SelectQueryNode' && JSON.stringify(query.from).includes('"owner_sessions"')
      if (isRead && failures++ === 0) throw Object.assign(new Error('the connection was lost'), { code: '57P01' })
      return query
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
  const failing = await nodeForTest(server, { deps: { db: server.deps.db.withPlugin(plugin) } })

  const response = await failing.request('GET', '/settings/trpc/settings.session.get', {
    headers: { cookie: person.cookie() },
  })

  expect(failures).toBeGreaterThan(0)
  expect(response.statusCode).toBe(200)
  const logged = failing.log.find((line) => line.includes('57P01')) ?? '{}'
  expect(JSON.parse(logged)).toMatchObject({ level: 'error', from: 'better-auth', code: '57P01' })
  expect(logged).not.toContain('the connection was lost')
})

test('ends a session with effect on the next request to every server', async () => {
  const person = await signedInOwner(server, account.accountId)
  const stolen = visitor(node, person.email)
  await stolen.signIn()
  const other = (await sessionsOf(person)).find(({ current }) => !current)

  const revoked = await person.mutate('session.revoke', { sessionId: other?.sessionId })

  expect(revoked.statusCode).toBe(200)
  expect((await stolen.query('session.get')).statusCode).toBe(401)
  expect((await person.query('session.get')).statusCode).toBe(200)
  const [entry] = (await listAudit(server.deps, { accountId: account.accountId, limit: 1 })).items
  expect(entry).toMatchObject({ who: person.email, what: 'ended a session of Unknown device', outcome: 'done' })
})

test('ends all other sessions', async () => {
  const person = await signedInOwner(server, account.accountId)
  const others = [visitor(node, person.email), visitor(server, person.email)]
  for (const other of others) await other.signIn()

  const { data } = await person.mutate<{ revoked: number }>('session.revokeOthers')

  expect(data).toEqual({ revoked: 2 })
  for (const other of others) expect((await other.query('session.get')).statusCode).toBe(401)
  expect((await sessionsOf(person)).map(({ current }) => current)).toEqual([true])

  // A call that ends nothing does not fill the audit log, either.
  const [ended] = (await listAudit(server.deps, { accountId: account.accountId, limit: 1 })).items
  expect((await person.mutate('session.revokeOthers')).data).toEqual({ revoked: 0 })
  expect((await listAudit(server.deps, { accountId: account.accountId, limit: 1 })).items).toEqual([ended])
})

test('finds no session of another user', async () => {
  const [ada, bob] = [await signedInOwner(server, account.accountId), await signedInOwner(server, account.accountId)]
  const [theirs] = await sessionsOf(bob)

  const response = await ada.mutate('session.revoke', { sessionId: theirs?.sessionId })

  expect(response).toMatchObject({ statusCode: 404 })
  expect((await bob.query('session.get')).statusCode).toBe(200)
  expect((await sessionsOf(ada)).map(({ sessionId }) => sessionId)).not.toContain(theirs?.sessionId)
})

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    'Safari on macOS',
  ],
  ['curl/8.5.0', 'Unknown device'],
  ['', 'Unknown device'],
])('names the device of %s', (userAgent, device) => {
  expect(inEnglish(describeDevice(userAgent))).toBe(device)
})
