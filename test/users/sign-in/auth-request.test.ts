import { afterEach, describe, expect, test } from 'vitest'
import { forFile } from '../../support/lifetime.ts'
import { startOidcProvider } from '../../support/oidc-provider.ts'
import { accountWithOwner } from '../../support/user.ts'
import { nodeForTest, startTestServer, type TestResponse } from '../../support/server.ts'

const provider = await forFile(startOidcProvider())
const server = await forFile(startTestServer({ server: { oidc: provider } }))
provider.serve(server.url)
const { owner } = await accountWithOwner(server)

afterEach(() => server.database.db.deleteFrom('owner_sign_in_rates').execute())

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<TestResponse> {
  return server.request('POST', `/settings/auth${path}`, {
    headers: { 'content-type': 'application/json', origin: server.url, ...headers },
    body: JSON.stringify(body),
  })
}

const credentials = () => ({ email: owner.email, password: owner.password })

describe('a sign-in with an organisation', () => {
  test.each(['callbackURL', 'errorCallbackURL'])('rejects a redirect outside the dashboard: %s', async (name) => {
    const outside = ['https://evil.example/', '//evil.example', '/\\evil.example', '/%2fevil.example', '/settingsx']

    for (const url of outside) {
      const { statusCode } = await post('/sign-in/oauth2', { providerId: 'oidc', [name]: url })
      expect(statusCode).toBe(400)
    }
  })

  test('is rejected if it began on another host', async () => {
    const body = { providerId: 'oidc', callbackURL: '/settings/', errorCallbackURL: 'http://evil.example/' }
    const begun = await post('/sign-in/oauth2', body, { host: 'evil.example', origin: 'http://evil.example' })
    const state = /state=([\w-]+)/.exec(begun.text)?.[1]

    const { headers } = await server.request('GET', `/settings/auth/oauth2/callback/oidc?state=${state}&code=x`)

    expect(headers['location']).toBe('/settings/sign-in?error=state_mismatch')
  })

  test('requests only the configured scopes', async () => {
    const { text } = await post('/sign-in/oauth2', { providerId: 'oidc', scopes: ['offline_access'] })

    expect(new URL(JSON.parse(text).url).searchParams.get('scope')).toBe('openid email profile')
  })
})

test('redirects from the sandbox link only to the dashboard', async () => {
  const responses = await Promise.all(
    ['callbackURL=//evil.example', 'callbackURL=/settings/&errorCallbackURL=https://evil.example'].map((query) =>
      server.request('GET', `/settings/auth/magic-link/verify?token=x&${query}`),
    ),
  )

  for (const { headers } of responses) expect(headers['location'] ?? '').not.toContain('evil.example')
})

test('shares the attempt limit between all spellings of a path', async () => {
  await post('/sign-in/%65mail', credentials())
  await post('/sign-in/email?once=more', credentials())

  const rates = await server.deps.db.selectFrom('owner_sign_in_rates').select('key').execute()
  expect(rates).toEqual([{ key: '127.0.0.1|/sign-in/email' }])
})

test('ignores headers that name a client address', async () => {
  await post('/sign-in/email', credentials(), { 'x-forwarded-for': '203.0.113.1', 'x-waybill-address': '203.0.113.2' })

  const rates = await server.deps.db.selectFrom('owner_sign_in_rates').select('key').execute()
  expect(rates).toEqual([{ key: '127.0.0.1|/sign-in/email' }])
})

describe.each(['/sign-in/email', '/sign-out', '/change-password'])('%s', (path) => {
  test.each<Record<string, string>>([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', origin: 'https://evil.example' },
  ])('rejects a page of another site: %o', async (headers) => {
    const { statusCode } = await post(path, credentials(), { cookie: 'some=cookie', ...headers })

    expect(statusCode).toBe(403)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'rejects a form: %s',
    async (contentType) => {
      const { statusCode } = await post(path, credentials(), { 'content-type': contentType })

      expect(statusCode).toBe(415)
    },
  )
})

test.each(['a b', 'somebody@example.com', 'example.com/path', 'example.com:99999'])(
  'answers an invalid Host header with a client error: %s',
  async (host) => {
    const response = await post('/sign-in/email', credentials(), { host })

    expect(response.statusCode).toBe(400)
    expect(response.json().error.code).toBe('VALIDATION_ERROR')
  },
)

test.each(['file', 'javascript', 'a b'])(
  'answers an invalid X-Forwarded-Proto header of a trusted proxy with a client error: %s',
  async (protocol) => {
    const node = await nodeForTest(server, { server: { trustedProxies: ['loopback'] } })

    const response = await node.request('POST', '/settings/auth/sign-in/email', {
      headers: { 'content-type': 'application/json', 'x-forwarded-proto': protocol },
      body: JSON.stringify(credentials()),
    })

    expect(response.statusCode).toBe(400)
    expect(response.json().error.message).toContain('X-Forwarded-Proto')
  },
)

test('logs few lines, and short ones, about requests from pages of other sites', async () => {
  // With a cookie, the origin is checked before anything is counted.
  const headers = { origin: `https://${'evil.'.repeat(1_600)}example`, cookie: 'some=cookie' }
  for (let count = 0; count < 100; count++)
    expect((await post('/sign-in/email', credentials(), headers)).statusCode).toBe(403)

  const lines = server.log.filter((line) => line.includes('better-auth'))
  const errors = lines.filter((line) => line.includes('"level":"error"'))
  // One of an earlier test may have been less than a second before.
  expect(errors.length).toBeGreaterThan(0)
  expect(errors.length).toBeLessThan(50)
  expect(lines.filter((line) => line.length > 320)).toEqual([])
})
