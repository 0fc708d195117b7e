import type { DashboardErrorData } from '../../contracts/errors.ts'
import { grantOperator } from '../../src/users/operators.ts'
import type { TestServer } from './server.ts'
import { signedInOwner, type TestOwner, totp } from './user.ts'

export interface OperatorResponse {
  statusCode: number
  /** Absent on failure; only tests of a success read it. */
  data: Record<string, unknown> & { items: Record<string, unknown>[] }
  error: { message: string; data: DashboardErrorData }
}

/** A user with an authenticator app whom the command line has made an operator. */
export async function signedInOperator(server: TestServer): Promise<TestOwner & { secret: string }> {
  const { accountId } = await server.account()
  const user = await signedInOwner(server, accountId)
  const { secret } = await setUpAuthenticator(server, user)
  await grantOperator(server.deps, user)
  return { ...user, secret }
}

/** Sets up an authenticator app, and confirms it with the code that it shows now. */
export async function setUpAuthenticator(
  server: Pick<TestServer, 'deps'>,
  user: TestOwner,
): Promise<{ secret: string; code: string; backupCodes: string[] }> {
  const enabled = await user.auth('/two-factor/enable', { password: user.password })
  const { totpURI, backupCodes } = JSON.parse(enabled.text)
  const secret = new URL(totpURI).searchParams.get('secret') ?? ''
  const code = totp(secret)
  const confirmed = await user.auth('/two-factor/verify-totp', { code })
  if (confirmed.statusCode !== 200) throw new Error(`the code was rejected: ${confirmed.text}`)
  // All users of a test share one address.
  await server.deps.db.deleteFrom('owner_sign_in_rates').execute()
  return { secret, code, backupCodes }
}

/** Calls a procedure of the console, such as `account.list`, with the session of a user. */
export async function callOperator(
  server: Pick<TestServer, 'request' | 'url'>,
  user: Pick<TestOwner, 'cookie'>,
  { name, kind }: { name: string; kind: 'query' | 'mutation' },
  input: object = {},
  headers: Record<string, string> = {},
): Promise<OperatorResponse> {
  const path = `/settings/trpc/operator.${name}`
  const session = { origin: server.url, cookie: user.cookie(), ...headers }
  const { statusCode, text } = await (kind === 'query'
    ? server.request('GET', `${path}?input=${encodeURIComponent(JSON.stringify(input))}`, { headers: session })
    : server.request('POST', path, {
        headers: { 'content-type': 'application/json', ...session },
        body: JSON.stringify(input),
      }))
  const body = JSON.parse(text)
  return { statusCode, data: body.result?.data, error: body.error }
}
