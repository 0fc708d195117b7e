import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
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
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return known
}

function createProvider(known: TestOidcProvider, redirectUri: string): Provider {
  return new Provider(known.issuer, {
    clients: [{ client_id: known.clientId, client_secret: known.clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a key of this test alone'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: 'Ada', ...known.person }),
    }),
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
