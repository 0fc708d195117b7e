import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/platform/config.ts'
import { describeProxies, findProxy, parseNoProxy } from '../../src/platform/proxy.ts'

const proxy = new URL('http://proxy.example.com:3128')

function isDirect(url: string, noProxy: string): boolean {
  return findProxy({ https: proxy, http: proxy, direct: parseNoProxy(noProxy) }, new URL(url)) === undefined
}

test.each([
  { noProxy: '', url: 'https://graph.facebook.com', direct: false },
  { noProxy: '*', url: 'https://graph.facebook.com', direct: true },
  { noProxy: 'example.com', url: 'https://example.com', direct: true },
  { noProxy: 'example.com', url: 'https://a.example.com', direct: true },
  { noProxy: 'example.com', url: 'https://notexample.com', direct: false },
  { noProxy: 'example.com', url: 'https://example.com.evil.org', direct: false },
  { noProxy: '.example.com', url: 'https://a.example.com', direct: true },
  { noProxy: '*.example.com', url: 'https://a.b.example.com', direct: true },
  { noProxy: 'EXAMPLE.com.', url: 'https://example.COM./', direct: true },
  { noProxy: 'a.example, b.example\tc.example', url: 'https://c.example', direct: true },
  { noProxy: 'example.com:8443', url: 'https://example.com', direct: false },
  { noProxy: 'example.com:443', url: 'https://example.com', direct: true },
  { noProxy: 'example.com:80', url: 'http://example.com', direct: true },
  { noProxy: '10.0.0.0/8', url: 'https://10.1.2.3', direct: true },
  { noProxy: '10.0.0.0/8', url: 'https://11.1.2.3', direct: false },
  { noProxy: '10.0.0.0/8', url: 'https://[2001:db8::1]', direct: false },
  { noProxy: '2001:db8::/32', url: 'https://[2001:db8::1]', direct: true },
  { noProxy: '[2001:db8::1]:443', url: 'https://[2001:DB8:0::1]', direct: true },
  { noProxy: '2001:db8::1', url: 'https://[2001:db8:0::1]', direct: true },
  { noProxy: '192.0.2.7', url: 'https://192.0.2.7', direct: true },
  { noProxy: '10.0.0.0/8', url: 'https://[::ffff:10.1.2.3]', direct: true },
  { noProxy: '::ffff:192.0.2.7', url: 'https://192.0.2.7', direct: true },
  { noProxy: '2.7', url: 'https://192.0.2.7', direct: false },
  { noProxy: '', url: 'http://localhost:3001', direct: true },
  { noProxy: '', url: 'http://127.1.2.3', direct: true },
  { noProxy: '', url: 'http://[::1]:3001', direct: true },
  { noProxy: '', url: 'http://[::ffff:127.0.0.1]', direct: true },
  { noProxy: '', url: 'http://localhost.example.com', direct: false },
])('with NO_PROXY "$noProxy", $url is reached directly: $direct', ({ noProxy, url, direct }) => {
  expect(isDirect(url, noProxy)).toBe(direct)
})

test('uses each proxy for its own protocol', () => {
  const { proxies } = readConfig({ HTTPS_PROXY: 'http://secure.example.com:3128' })

  expect(findProxy(proxies, new URL('https://a.example'))?.origin).toBe('http://secure.example.com:3128')
  expect(findProxy(proxies, new URL('http://a.example'))).toBeUndefined()
  expect(readConfig({ NO_PROXY: '*' }).proxies).toBeUndefined()
})

test('prefers the lowercase variables, and accepts a proxy without a scheme', () => {
  const { proxies } = readConfig({
    HTTPS_PROXY: 'http://upper.example.com',
    https_proxy: 'lower.example.com:3128',
    http_proxy: '',
    HTTP_PROXY: 'https://plain.example.com',
    no_proxy: 'example.org',
  })

  expect(proxies && describeProxies(proxies)).toBe(
    'https requests go through http://lower.example.com:3128, http requests go through https://plain.example.com, except to this machine, example.org',
  )
})

test('never shows the user name and password of a proxy', () => {
  const { proxies } = readConfig({ HTTPS_PROXY: 'http://ada:s3cret@proxy.example.com:3128' })

  expect(proxies && describeProxies(proxies)).toBe(
    'https requests go through http://proxy.example.com:3128, except to this machine',
  )
})

test.each([
  'socks5://ada:s3cret@proxy.example.com',
  'http://',
  'http://proxy.example.com/path',
  'http://a b',
  'http://ada:100%@proxy.example.com',
  'http://100%:s3cret@proxy.example.com',
])('rejects the proxy %s without repeating it', (value) => {
  expect(() => readConfig({ HTTPS_PROXY: value })).toThrow(
    new ConfigError([
      'HTTPS_PROXY: must be the URL of an http or https proxy, such as http://user:password@proxy.example.com:3128',
    ]),
  )
})
