import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { deliveryFailures } from '../../../contracts/facts/deliveries.ts'
import { createDownloader } from '../../../src/media/download.ts'
import { createS3Store } from '../../../src/media/object-store.ts'
import { parseNoProxy, type ProxySettings, useProxiesForFetch } from '../../../src/platform/proxy.ts'
import { createWebhookSender } from '../../../src/webhooks/sender/sender.ts'
import type { AttemptResult } from '../../../src/webhooks/sender/webhook-sender.ts'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { testCertificate } from '../../support/certificate.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { startOutboundProxy } from '../../support/outbound-proxy.ts'

const { host, cert: ca } = testCertificate
const publicAddress = '93.184.216.34'
const usual = tls.getCACertificates('default')

/** Answers every https request. The proxy connects all names to it. */
const server = await forFile(
  createServer(testCertificate, (request, response) => {
    request.resume()
    response.end(JSON.stringify({ messages: [{ id: 'wamid.1' }] }))
  }),
)

server.listen(0, '127.0.0.1')
await once(server, 'listening')
const proxy = await forFile(startOutboundProxy(server.address() as AddressInfo))
afterEach(() => {
  proxy.requests.length = 0
  proxy.refuseWith(undefined)
})

function through(url: string, noProxy = ''): ProxySettings {
  return { https: new URL(url), http: new URL(url), direct: parseNoProxy(noProxy) }
}

function withPassword(url: string): string {
  return url.replace('//', '//ada:p%40ss@')
}

const lines = () => proxy.requests.map(({ line }) => line)

const message = { to: '34600111222', name: 'a', language: 'en', parameters: [], callbackData: 'msg_1' }
const number = { phoneNumberId: '1', accessToken: 'token' }

/** The Graph client trusts the certificates of the system, so the test's own joins them. */
async function sendThrough(proxies: ProxySettings) {
  tls.setDefaultCACertificates([...usual, ca])
  const client = createCloudApi({ url: `https://${host}`, version: 'v25.0', proxies })
  try {
    return await client.sendTemplate(number, message)
  } finally {
    await client.close()
    tls.setDefaultCACertificates(usual)
  }
}

test('sends to WhatsApp through a tunnel of the proxy, which gets the name and the password', async () => {
  expect(await sendThrough(through(withPassword(proxy.url)))).toEqual({ kind: 'accepted', waMessageId: 'wamid.1' })

  expect(lines()).toEqual([`CONNECT ${host}:443`])
  expect(proxy.requests[0]?.headers).toMatchObject({
    'proxy-authorization': `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
  })
  expect(proxy.requests[0]?.headers.authorization).toBeUndefined()
})

test.each([
  { status: 403, reason: 'the proxy (HTTPS_PROXY) did not connect: HTTP 403' },
  { status: 407, reason: 'the proxy (HTTPS_PROXY) requires another user name and password' },
  { status: 503, reason: 'the proxy (HTTPS_PROXY) did not connect: HTTP 503' },
])('treats a send that the proxy rejects with $status as not sent', async ({ status, reason }) => {
  proxy.refuseWith(status)

  expect(await sendThrough(through(proxy.url))).toMatchObject({ kind: 'unavailable', reason })
})

test('treats a send through an unreachable proxy as not sent', async () => {
  expect(await sendThrough(through('http://127.0.0.1:9'))).toMatchObject({
    kind: 'unavailable',
    reason: 'the proxy (HTTPS_PROXY) cannot be reached',
  })
})

test('sends to an http Graph API through the proxy without a tunnel', async () => {
  const simulator = await forTest(startSimulator())
  const forward = await forTest(startOutboundProxy({ port: Number(new URL(simulator.url).port) }))
  const proxies = through(withPassword(forward.url))
  const client = createCloudApi({ url: 'http://graph.example.com', version: 'v25.0', proxies })
  const hello = { ...message, name: 'hello_world', language: 'en_US' }

  expect(await client.sendTemplate(simulator, hello)).toMatchObject({ kind: 'accepted' })
  expect(forward.requests).toMatchObject([
    {
      line: `POST http://graph.example.com/v25.0/${simulator.phoneNumberId}/messages`,
      headers: { host: 'graph.example.com', 'proxy-authorization': expect.stringMatching(/^Basic /) },
    },
  ])
  await client.close()
})

async function deliver(
  proxies: ProxySettings,
  { url = `https://${host}/hook`, addresses = [publicAddress], timeoutSeconds = 60 } = {},
): Promise<AttemptResult> {
  const sender = createWebhookSender(
    { timeoutSeconds, allowPrivate: false },
    { resolve: () => Promise.resolve(addresses), ca, proxies },
  )
  const secrets = [`whsec_${'c2VjcmV0'.repeat(4)}`]
  const request = { url, headers: {}, eventId: 'evt_1', payload: '{}', secrets, timestamp: new Date() }
  const result = await sender.attempt(request)
  await sender.close()
  return result
}

test('delivers webhooks through a tunnel to the address that was checked', async () => {
  expect(await deliver(through(proxy.url))).toMatchObject({ outcome: 'delivered', statusCode: 200 })

  expect(lines()).toEqual([`CONNECT ${publicAddress}:443`])
})

test('prefers IPv4, and puts an IPv6 address into brackets', async () => {
  await deliver(through(proxy.url), { addresses: ['2606:4700::1', publicAddress] })
  await deliver(through(proxy.url), { addresses: ['2606:4700::1'] })

  expect(lines()).toEqual([`CONNECT ${publicAddress}:443`, 'CONNECT [2606:4700::1]:443'])
})

test('verifies the certificate of the receiver through the proxy', async () => {
  expect(await deliver(through(proxy.url), { url: 'https://other.example/' })).toMatchObject({
    outcome: 'failed',
    error: deliveryFailures.certificateOfAnotherHost(),
  })
})

test.each([
  { says: 'a name with a private address', addresses: ['10.0.0.7'] },
  { says: 'a name with a public and a private address', addresses: [publicAddress, '127.0.0.1'] },
  { says: 'the metadata of a cloud provider', url: 'https://169.254.169.254/' },
  { says: 'an internal name', url: 'https://vault.internal/' },
])('asks the proxy for no connection to $says', async (endpoint) => {
  expect(await deliver(through(proxy.url), endpoint)).toMatchObject({ outcome: 'failed' })

  expect(lines()).toEqual([])
})

test('delivers without the proxy to what NO_PROXY names, under the same address rules', async () => {
  expect(await deliver(through(proxy.url, host), { addresses: ['127.0.0.1'] })).toMatchObject({
    error: deliveryFailures.unusableHost(),
  })
  expect(lines()).toEqual([])
})

test('reports the proxy if it does not connect', async () => {
  proxy.refuseWith(403)
  const error = deliveryFailures.proxyFailed()

  expect(await deliver(through(proxy.url))).toMatchObject({ outcome: 'failed', error })
  expect(await deliver(through('http://127.0.0.1:9'))).toMatchObject({ outcome: 'failed', error })
})

test('times out a proxy that does not respond', async () => {
  const silent = createTcpServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`

  const result = await deliver(through(url), { timeoutSeconds: 1 })
  expect(result).toMatchObject({ outcome: 'failed', error: deliveryFailures.timedOut() })
  silent.close()
})

test('downloads media links through a tunnel to the address that was checked', async () => {
  const resolve = () => Promise.resolve([publicAddress])
  const downloader = createDownloader({ allowPrivate: false, resolve, ca, proxies: through(proxy.url) })

  await (await downloader.open(`https://${host}/a.jpg`)).toArray()
  expect(lines()).toEqual([`CONNECT ${publicAddress}:443`])
  await downloader.close()
})

test('stores files in a bucket through the proxy', async () => {
  const bucket = { url: 'http://s3.example.com/bucket', prefix: '', region: 'eu-central-1' }
  const simulator = await forTest(startSimulator())
  const forward = await forTest(startOutboundProxy({ port: Number(new URL(simulator.url).port) }))
  const store = createS3Store({ ...bucket, accessKeyId: 'a', secretAccessKey: 'b' }, through(forward.url))

  await store.delete('key').catch(() => undefined)
  expect(forward.requests.map(({ line }) => line)).toEqual(['DELETE http://s3.example.com/bucket/key'])
  await store.close()
})

test('calls an OpenID provider through the proxy, until the server stops', async () => {
  const stop = useProxiesForFetch(through(proxy.url))
  tls.setDefaultCACertificates([...usual, ca])

  expect((await fetch(`https://${host}/.well-known/openid-configuration`)).status).toBe(200)
  expect(lines()).toEqual([`CONNECT ${host}:443`])
  stop()
  tls.setDefaultCACertificates(usual)
  await expect(fetch(`https://${host}/`)).rejects.toThrow('fetch failed')
  expect(lines()).toHaveLength(1)
})

test.each([
  { noProxy: '', host: '0.0.0.0', viaProxy: true },
  { noProxy: '0.0.0.0/8', host: '0.0.0.0', viaProxy: false },
  { noProxy: '', host: '[::ffff:127.0.0.1]', viaProxy: false },
])('reads NO_PROXY "$noProxy" for an OpenID provider at $host', async ({ noProxy, host, viaProxy }) => {
  const provider = createHttpServer((_request, response) => void response.end('{}')).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const { port } = provider.address() as AddressInfo
  const forward = await startOutboundProxy({ port })
  const stop = useProxiesForFetch(through(forward.url, noProxy))

  expect(await (await fetch(`http://${host}:${port}/`)).json()).toEqual({})
  expect(forward.requests.length > 0).toBe(viaProxy)
  stop()
  forward.close()
  provider.close()
})
