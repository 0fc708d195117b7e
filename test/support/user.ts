import { createHmac } from 'node:crypto'
import type { DashboardErrorData } from '../../contracts/errors.ts'
import type { Role } from '../../contracts/procedure.ts'
import { inviteUser } from '../../src/users/invitation.ts'
import { type Part, writeForm } from './media-files.ts'
import type { TestAccount, TestResponse, TestServer } from './server.ts'

/** The parts of a server that a user needs. */
type DashboardServer = Pick<TestServer, 'url' | 'request' | 'deps'>

/** A dashboard user as the server sees them: cookies and same-origin requests. */
export interface TestOwner {
  email: string
  password: string
  /** Calls a settings query such as `publicApi.get`. */
  query<T = ResponseData>(name: string, input?: object): Promise<SettingsResponse<T>>
  mutate<T = ResponseData>(name: string, input?: object, headers?: Record<string, string>): Promise<SettingsResponse<T>>
  /** Requests a path below `/settings/auth` with the cookies of the session. */
  auth(path: string, body: object): Promise<TestResponse>
  /** Posts a form to a path of the dashboard with the cookies of the session. */
  postForm(path: string, parts: Part[], headers?: Record<string, string>): Promise<TestResponse>
  /** The `Cookie` header of the session. */
  cookie(): string
  signIn(password?: string): Promise<TestResponse>
  /** The same user in another browser, signed out. */
  inOtherBrowser(): TestOwner
}

/** Fields that responses may contain; each test names those it expects. */
type ResponseData = Record<string, unknown>

export interface SettingsResponse<T> {
  statusCode: number
  /** Absent on failure; only tests of a success read it. */
  data: T
  error: { message: string; data: DashboardErrorData }
}

const password = 'correct horse battery staple'
let users = 0

/** Invites, registers and signs in an owner through the server's own routes. */
export async function signedInOwner(
  server: DashboardServer,
  accountId: string,
  { role = 'owner', email = `owner${++users}@example.com` }: { role?: Role; email?: string } = {},
): Promise<TestOwner> {
  const owner = visitor(server, email)
  const { path } = await inviteUser(server.deps, accountId, { email, role })
  const token = path.split('/').at(-1)
  const accepted = await owner.mutate('invitation.accept', { token, name: 'Ada', password })
  if (accepted.statusCode !== 200) throw new Error(`the invitation was not accepted: ${accepted.error.message}`)
  // All users of a test share one address.
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  const signedIn = await owner.signIn()
  if (signedIn.statusCode !== 200) throw new Error(`no sign-in: ${signedIn.text}`)
  return owner
}

/** A new account, and an owner who is signed in. */
export async function accountWithOwner(
  server: TestServer,
  options?: Parameters<TestServer['account']>[0],
): Promise<TestAccount & { owner: TestOwner }> {
  const account = await server.account(options)
  return { ...account, owner: await signedInOwner(server, account.accountId) }
}

/** A user without a session. */
export function visitor(server: DashboardServer, email = 'nobody@example.com'): TestOwner {
  const jar = new Map<string, string>()
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const request = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await server.request(method, path, {
      headers: {
        origin: server.url,
        ...(jar.size > 0 && { cookie: cookie() }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const cookie of [response.headers['set-cookie'] ?? []].flat()) keep(jar, cookie)
    return response
  }
  const auth = (path: string, body: object) => request('POST', `/settings/auth${path}`, body)
  return {
    email,
    password,
    query: async (name, input = {}) =>
      toResponse(
        await request('GET', `/settings/trpc/settings.${name}?input=${encodeURIComponent(JSON.stringify(input))}`),
      ),
    mutate: async (name, input = {}, headers = {}) =>
      toResponse(await request('POST', `/settings/trpc/settings.${name}`, input, headers)),
    auth,
    postForm: (path, parts, headers = {}) => {
      const { body, contentType } = writeForm(parts)
      return server.request('POST', path, {
        headers: { origin: server.url, cookie: cookie(), 'content-type': contentType, ...headers },
        body,
      })
    },
    cookie,
    signIn: (given = password) => auth('/sign-in/email', { email, password: given }),
    inOtherBrowser: () => visitor(server, email),
  }
}

function keep(jar: Map<string, string>, cookie: string): void {
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
  if (name === undefined || value === undefined) return
  if (value === '' || /max-age=0/i.test(cookie)) jar.delete(name)
  else jar.set(name, value)
}

function toResponse<T>({ statusCode, text }: TestResponse): SettingsResponse<T> {
  const body = JSON.parse(text)
  return { statusCode, data: body.result?.data, error: body.error }
}

/**
 * The code that an authenticator app shows now or after the given number of steps (RFC 6238 with SHA-1, six digits,
 * thirty seconds).
 */
export function totp(base32: string, steps = 0): string {
  const bits = [...base32.replace(/=+$/, '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from(bits.match(/.{8}/g)?.map((byte) => parseInt(byte, 2)) ?? [])
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const digest = createHmac('sha1', key).update(counter).digest()
  const offset = (digest.at(-1) ?? 0) & 0xf
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}
