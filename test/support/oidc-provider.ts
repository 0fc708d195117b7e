import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import type { OidcProvider } from '../../src/users/sign-in/id-token.ts'
import { listen } from './listen.ts'

/** An organisation's OpenID provider that signs its current user in without a prompt. */
export interface TestOidcProvider {
  issuer: string
  clientId: string
  clientSecret: string
  /** The current user. */
  person: { email: string; email_verified: boolean }
  /** Registers a client, whose address is known only once it listens. */
  serve(clientUrl: string): void
  close(): Promise<void>
}

export async function startOidcProvider(): Promise<TestOidcProvider> {
  const server = createServer()
  const { url: issuer, close } = await listen(server)
  const known: TestOidcProvider = {
    issuer,
    clientId: 'waybill',
    clientSecret: 'a secret between the two of them',
    person: { email: 'ada@example.com', email_verified: true },
    serve: (clientUrl) => {
      const provider = createProvider(known, `${clientUrl}/settings/auth/oauth2/callback/oidc`)
      const callback = provider.callback()
      server.on('request', (request, response) =>
        request.url?.startsWith('/interaction/')
          ? void completeSignIn(provider, known, request, response)
          : callback(request, response),
      )
    },
    close,
  }
  return known
}

function createProvider(known: TestOidcProvider, redirectUri: string): Provider {
  return new Provider(known.issuer, {
    clients: [{ client_id: known.clientId, client_secret: known.clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a key of this test alone'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, name: 'Ada', ...known.person }) }),
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  })
}

async function completeSignIn(
  provider: Provider,
  { person, clientId }: TestOidcProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt } = await provider.interactionDetails(request, response)
  const accountId = person.email
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId } }, { mergeWithLastSubmission: false })
  const grant = new provider.Grant({ accountId, clientId })
  grant.addOIDCScope('openid email profile')
  const consent = { grantId: await grant.save() }
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true })
}

/** An OpenID provider whose every answer a test chooses. */
export interface ForgedOidcProvider extends OidcProvider {
  /** Claims that replace those of a valid ID token. */
  claims: Record<string, unknown>
  /** Returns another token instead of the signed one. */
  forge: (token: string) => string | undefined | Promise<string>
  /** Signs the current claims. */
  sign(): Promise<string>
  /** What the userinfo endpoint returns. */
  userInfo: unknown
  /** Changes to the discovery document. A promise delays it. */
  discovery: Record<string, unknown> | Promise<Record<string, unknown>>
  /** Signs with a new key from now on; publishes it in place of the other, unless it stays secret. */
  changeKey(options: { publish: boolean }): Promise<void>
  close(): Promise<void>
}

export async function startForgedOidcProvider(): Promise<ForgedOidcProvider> {
  const server = createServer()
  const { url: issuer, close } = await listen(server)
  let signing = await createKey('key 1')
  let published = signing
  let keys = 1
  const provider: ForgedOidcProvider = {
    issuer,
    clientId: 'waybill',
    clientSecret: 'a secret between the two of them',
    claims: {},
    forge: (token) => token,
    userInfo: {},
    discovery: {},
    sign: () => {
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: issuer, aud: provider.clientId, iat: now, exp: now + 300, ...provider.claims }
      return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: signing.kid }).sign(signing.privateKey)
    },
    changeKey: async ({ publish }) => {
      signing = await createKey(publish ? `key ${++keys}` : published.kid)
      if (publish) published = signing
    },
    close,
  }
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    await text(request)
    switch (new URL(request.url ?? '', issuer).pathname) {
      case '/.well-known/openid-configuration':
        return {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/keys`,
          ...(await provider.discovery),
        }
      case '/keys':
        return { keys: [{ ...(await exportJWK(published.publicKey)), kid: published.kid, alg: 'ES256', use: 'sig' }] }
      case '/token':
        return { access_token: 'access', token_type: 'Bearer', id_token: await provider.forge(await provider.sign()) }
      case '/userinfo':
        return provider.userInfo
      default:
        return undefined
    }
  }
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '', issuer)
    if (url.pathname === '/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', 'code')
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      response.writeHead(302, { location: back.href }).end()
      return
    }
    void answer(request).then((body) =>
      response
        .writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(body ?? {})),
    )
  })
  return provider
}

async function createKey(kid: string) {
  return { kid, ...(await generateKeyPair('ES256')) }
}
