import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findConfigWarnings, readConfig, readOrCreateSecretKey } from '../../src/platform/config.ts'
import { secretVariables } from '../../src/platform/environment.ts'
import { folderForFile, folderForTest } from '../support/lifetime.ts'

const key = Buffer.alloc(32, 7).toString('base64')

test('uses the embedded defaults for an empty environment', () => {
  expect(readConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    database: { kind: 'pglite' },
    trustedProxies: [],
    graphApi: { version: 'v26.0' },
  })
})

test('selects an earlier version of the Graph API', () => {
  expect(readConfig({ GRAPH_API_VERSION: 'v25.0' }).graphApi.version).toBe('v25.0')
})

test.each([
  { environment: {}, store: { kind: 'folder', path: path.resolve('.waybill/media') } },
  { environment: { WAYBILL_DATA_DIR: '/data' }, store: { kind: 'folder', path: '/data/media' } },
  { environment: { WAYBILL_MEDIA_STORE: '/mnt/files' }, store: { kind: 'folder', path: '/mnt/files' } },
  {
    environment: { WAYBILL_MEDIA_STORE: 's3://files.example', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' },
    store: { kind: 's3', url: 'https://s3.us-east-1.amazonaws.com/files.example', prefix: '' },
  },
  {
    environment: {
      WAYBILL_MEDIA_STORE: 's3://files/waybill/media/',
      S3_ENDPOINT: 'http://minio:9000/',
      S3_REGION: 'eu-west-1',
      S3_ACCESS_KEY_ID: 'a',
      S3_SECRET_ACCESS_KEY: 'b',
    },
    store: { kind: 's3', url: 'http://minio:9000/files', prefix: 'waybill/media', region: 'eu-west-1' },
  },
])('stores files in $store', ({ environment, store }) => {
  expect(readConfig(environment).media.store).toMatchObject(store)
})

test('treats an empty variable as unset', () => {
  expect(readConfig({ DATABASE_URL: '', PORT: '' })).toMatchObject({ port: 3000, database: { kind: 'pglite' } })
})

test.each([
  { environment: { PORT: 'http' }, says: /^PORT: / },
  { environment: { DATABASE_URL: 'mysql://x' }, says: /DATABASE_URL: must be a postgres:\/\/ URL/ },
  {
    environment: { DATABASE_URL: 'postgres://u:hunter2@h/d' },
    says: /^WAYBILL_SECRET_KEY: is required with DATABASE_URL/,
  },
  { environment: { WAYBILL_SECRET_KEY: 'c2hvcnQ=' }, says: /^WAYBILL_SECRET_KEY: must be 32 bytes in base64/ },
  { environment: { WAYBILL_SECRET_KEY: `${key}\n${key}` }, says: /^WAYBILL_SECRET_KEY: must be 32 bytes in base64/ },
  {
    environment: { WAYBILL_MEDIA_STORE: 'S3://files/media' },
    says: /^WAYBILL_MEDIA_STORE: must be a folder, or a bucket/,
  },
  { environment: { WAYBILL_MEDIA_STORE: 'gs://files' }, says: /^WAYBILL_MEDIA_STORE: must be a folder, or a bucket/ },
  { environment: { TRUST_PROXY: 'true' }, says: /^TRUST_PROXY: .*"true" is neither/ },
  {
    environment: { WEBHOOK_PRIVATE_HOSTS: 'https://orders.lan' },
    says: /^WEBHOOK_PRIVATE_HOSTS: .*"https:\/\/orders.lan" is neither/,
  },
  {
    environment: { WEBHOOK_PRIVATE_HOSTS: 'orders.lan:8080' },
    says: /^WEBHOOK_PRIVATE_HOSTS: .*"orders.lan:8080" is neither/,
  },
  { environment: { WEBHOOK_PRIVATE_HOSTS: '*' }, says: /^WEBHOOK_PRIVATE_HOSTS: .*"\*" is neither/ },
  { environment: { WEBHOOK_PRIVATE_HOSTS: '10.0.0.0/8' }, says: /^WEBHOOK_PRIVATE_HOSTS: .*"10.0.0.0\/8" is neither/ },
  { environment: { TRUST_PROXY: '1' }, says: /^TRUST_PROXY: .*"1" is neither/ },
  { environment: { TRUST_PROXY: '010.0.0.0/8' }, says: /^TRUST_PROXY: .*"010.0.0.0\/8" is neither/ },
  { environment: { TRUST_PROXY: '10/8' }, says: /^TRUST_PROXY: .*"10\/8" is neither/ },
  { environment: { TRUST_PROXY: '10.0.0.0/33' }, says: /^TRUST_PROXY: .*"10.0.0.0\/33" is neither/ },
  { environment: { TRUST_PROXY: 'fe80::1%eth0' }, says: /^TRUST_PROXY: .*"fe80::1%eth0" is neither/ },
  { environment: { GRAPH_API_VERSION: '25' }, says: /^GRAPH_API_VERSION: must look like v25.0/ },
  { environment: { WAYBILL_RETENTION_DAYS: '99999999' }, says: /^WAYBILL_RETENTION_DAYS: must be at most 1000000/ },
  {
    environment: { WAYBILL_RETENTION_DAYS: '2' },
    says: /^WAYBILL_RETENTION_DAYS: must be at least 3, twice the total/,
  },
  { environment: { WAYBILL_MEDIA_QUOTA_MB: '0' }, says: /^WAYBILL_MEDIA_QUOTA_MB: must be at least 1/ },
  { environment: { WAYBILL_MEDIA_EXPIRY: '5m' }, says: /^WAYBILL_MEDIA_EXPIRY: must be at least 1h/ },
  { environment: { WAYBILL_MEDIA_STORE: 's3:bucket' }, says: /^WAYBILL_MEDIA_STORE: must be a folder, or a bucket/ },
  {
    environment: { WAYBILL_MEDIA_STORE: 's3://bucket', S3_ACCESS_KEY_ID: 'key' },
    says: /^S3_SECRET_ACCESS_KEY: is required if WAYBILL_MEDIA_STORE is a bucket/,
  },
  {
    environment: {
      WAYBILL_SECRET_KEY: key,
      DATABASE_URL: 'postgres://u:hunter2@h/d',
      DATABASE_PASSWORD_COMMAND: 'true',
    },
    says: /^DATABASE_PASSWORD_COMMAND: is set, and DATABASE_URL contains a password/,
  },
  {
    environment: {
      WAYBILL_SECRET_KEY: key,
      DATABASE_URL: 'postgres://u@h/d?password=hunter2',
      DATABASE_PASSWORD_COMMAND: 'true',
    },
    says: /^DATABASE_PASSWORD_COMMAND: is set, and DATABASE_URL contains a password/,
  },
  {
    environment: {
      WAYBILL_SECRET_KEY: key,
      DATABASE_URL: 'postgres://u@h/d',
      PGPASSWORD: 'hunter2',
      DATABASE_PASSWORD_COMMAND: 'true',
    },
    says: /^DATABASE_PASSWORD_COMMAND: is set, and PGPASSWORD is set, too/,
  },
  {
    environment: { DATABASE_STATEMENT_TIMEOUT: '30s' },
    says: /^DATABASE_STATEMENT_TIMEOUT: must be between 1s and 15s/,
  },
  { environment: { DATABASE_LOCK_TIMEOUT: '0s' }, says: /^DATABASE_LOCK_TIMEOUT: must be between 1s and 10s/ },
  {
    environment: { DATABASE_STATEMENT_TIMEOUT: '2s', DATABASE_LOCK_TIMEOUT: '3s' },
    says: /^DATABASE_LOCK_TIMEOUT: must not be longer than DATABASE_STATEMENT_TIMEOUT/,
  },
  { environment: { LOG_LEVEL: 'loud' }, says: /^LOG_LEVEL: must be one of/ },
  { environment: { WAYBILL_DATA_DIR: '~/waybill' }, says: /^WAYBILL_DATA_DIR: must be the path of a folder\. ~ and/ },
  { environment: { WAYBILL_DATA_DIR: '$HOME/waybill' }, says: /^WAYBILL_DATA_DIR: must be the path of a folder/ },
  { environment: { WAYBILL_MEDIA_STORE: '~/files' }, says: /^WAYBILL_MEDIA_STORE: must be the path of a folder/ },
  ...['/#/sign-in', '?next=a', '/docs'].map((end) => ({
    environment: { WAYBILL_PUBLIC_URL: `https://waybill.example.com${end}` },
    says: /^WAYBILL_PUBLIC_URL: must have no path/,
  })),
  {
    environment: { WAYBILL_PUBLIC_URL: 'https://me:hunter2@waybill.example.com' },
    says: /^WAYBILL_PUBLIC_URL: must have no path, query or user name/,
  },
])('refuses to start with $environment', ({ environment, says }) => {
  expect(() => readConfig(environment)).toThrow(says)
  expect(() => readConfig(environment)).not.toThrow('hunter2')
})

test.each(['\n', '\r\n', '\r', ' ', '\t', '\u00a0', '\uFEFF'])(
  'removes %j around the values of variables',
  (around) => {
    const { meta, metricsToken, port } = readConfig({
      META_APP_SECRET: `${around}pepper${around}`,
      META_VERIFY_TOKEN: `hello world${around}`,
      METRICS_TOKEN: `${around}meter`,
      PORT: `3001${around}`,
    })
    expect({ meta, metricsToken, port }).toEqual({
      meta: { appSecret: 'pepper', verifyToken: 'hello world' },
      metricsToken: 'meter',
      port: 3001,
    })
  },
)

test('treats a variable that contains only white space as absent', () => {
  expect(readConfig({ METRICS_TOKEN: ' \n' }).metricsToken).toBeUndefined()
})

test.each(['"pepper"', "'pepper'", '`pepper`', '"pepper"\n'])(
  'refuses to start with a secret in quotes: %j',
  (secret) => {
    expect(() => readConfig({ META_APP_SECRET: secret })).toThrow(/^META_APP_SECRET: is in quotes/)
  },
)

test.each([
  { WAYBILL_DATA_DIR: '"/data"' },
  { WAYBILL_MEDIA_STORE: "'/data/media'" },
  { HOST: '"0.0.0.0"' },
  { S3_REGION: '"eu-west-1"' },
  { OIDC_CLIENT_ID: '"waybill"' },
  { no_proxy: '".example.com"' },
])('refuses to start with other values in quotes: %j', (environment) => {
  expect(() => readConfig(environment)).toThrow(/^[A-Z\d_]+: is in quotes, which are not removed/)
})

test('keeps the quotes of a command', () => {
  const DATABASE_PASSWORD_COMMAND = '"/opt/my tools/password"'
  expect(readConfig({ DATABASE_PASSWORD_COMMAND }).postgres.passwordCommand).toMatchObject({
    text: DATABASE_PASSWORD_COMMAND,
  })
})

const folder = await folderForFile()

describe('a secret in a file', () => {
  const write = (name: string, content: string) => {
    const file = path.join(folder, name)
    writeFileSync(file, content)
    return file
  }

  test('replaces the variable, without the white space and byte order mark around it', () => {
    const environment = {
      DATABASE_URL_FILE: write('database', 'postgres://waybill:hush@db/waybill\n'),
      WAYBILL_SECRET_KEY_FILE: write('key', `${key}\r\n`),
      META_APP_SECRET_FILE: write('app', '\uFEFF kept as it is \n'),
      META_VERIFY_TOKEN_FILE: write('verify', 'verify'),
      METRICS_TOKEN_FILE: write('metrics', 'metrics\n'),
      OIDC_ISSUER: 'https://login.example.com',
      OIDC_CLIENT_ID: 'waybill',
      OIDC_CLIENT_SECRET_FILE: write('oidc', 'oidc\n'),
    }

    expect(readConfig(environment)).toMatchObject({
      database: { kind: 'postgres', url: 'postgres://waybill:hush@db/waybill' },
      secretKeys: [Buffer.alloc(32, 7)],
      meta: { appSecret: 'kept as it is', verifyToken: 'verify' },
      metricsToken: 'metrics',
      oidc: { clientSecret: 'oidc' },
    })
  })

  test.each([
    {
      environment: { METRICS_TOKEN_FILE: '/nowhere/at/all' },
      says: /^METRICS_TOKEN_FILE: names a file that cannot be read \(ENOENT\)$/,
    },
    {
      environment: { METRICS_TOKEN_FILE: folder },
      says: /^METRICS_TOKEN_FILE: names a file that cannot be read \(EISDIR\)$/,
    },
    {
      environment: { METRICS_TOKEN_FILE: write('empty', '\n') },
      says: /^METRICS_TOKEN_FILE: names an empty file\. Write the secret into it$/,
    },
    {
      environment: { METRICS_TOKEN: 'hush', METRICS_TOKEN_FILE: write('two', 'hush') },
      says: /^METRICS_TOKEN_FILE: is set together with METRICS_TOKEN\. Set only one of them$/,
    },
    { environment: { WAYBILL_SECRET_KEY_FILE: write('short', 'hush') }, says: /^WAYBILL_SECRET_KEY: must be 32 bytes/ },
  ])('prevents the start if it is invalid: $says', ({ environment, says }) => {
    expect(() => readConfig(environment)).toThrow(says)
    expect(() => readConfig(environment)).not.toThrow(/hush/)
  })

  test('is supported for every secret, and an empty path counts as unset', () => {
    expect(readConfig({ METRICS_TOKEN: 'token', METRICS_TOKEN_FILE: '' }).metricsToken).toBe('token')
    const guide = readFileSync(path.resolve(import.meta.dirname, '../../docs/operating/configuration.md'), 'utf8')
    for (const name of secretVariables) expect(guide).toContain(`\`${name}_FILE\``)
  })
})

const warned = (environment: Record<string, string>) =>
  findConfigWarnings(readConfig({ META_APP_SECRET: 'a1'.repeat(16), META_VERIFY_TOKEN: 'random', ...environment }))

test('warns about a missing app secret', () => {
  expect(warned({ META_APP_SECRET: '' })).toEqual([expect.stringMatching(/^META_APP_SECRET is not set: callbacks/)])
})

test('warns about an app secret that is not 32 hexadecimal digits, without repeating it', () => {
  for (const secret of ['notasecret', 'a1'.repeat(15), `${'a1'.repeat(16)}f`, 'g'.repeat(32)]) {
    expect(warned({ META_APP_SECRET: secret })).toEqual([
      expect.stringMatching(/^META_APP_SECRET is not 32 hexadecimal digits/),
    ])
    expect(String(warned({ META_APP_SECRET: secret }))).not.toContain(secret)
  }
  expect(warned({ META_APP_SECRET: 'A1'.repeat(16) })).toEqual([])
})

test('warns about a missing verify token', () => {
  expect(warned({ META_VERIFY_TOKEN: '' })).toEqual([expect.stringMatching(/^META_VERIFY_TOKEN is not set: /)])
})

test('warns about a trusted proxy without a public URL', () => {
  expect(warned({ TRUST_PROXY: 'loopback' })).toEqual([
    expect.stringMatching(/^TRUST_PROXY is set and WAYBILL_PUBLIC_URL is not/),
  ])
  expect(warned({ TRUST_PROXY: 'loopback', WAYBILL_PUBLIC_URL: 'https://waybill.example.com' })).toEqual([])
  expect(warned({})).toEqual([])
})

test('reports every invalid variable on its own line without its value', () => {
  const wrong = { PORT: 'secret-1', DATABASE_URL: 'secret-2', LOG_LEVEL: 'secret-3' }
  expect(() => readConfig(wrong)).toThrow(/^PORT: .*\nDATABASE_URL: .*\nLOG_LEVEL: .*$/)
  expect(() => readConfig(wrong)).not.toThrow(/secret-/)
})

test('reads the SMTP server, which requires a public URL for the links', () => {
  const SMTP_URL = 'smtps://user:hush@smtp.example.com'
  expect(() => readConfig({ SMTP_URL })).toThrow(/^WAYBILL_PUBLIC_URL: is required with SMTP_URL/)
  expect(() => readConfig({ SMTP_URL: 'https://user:hush@smtp.example.com' })).toThrow(/^SMTP_URL: must look like/)
  expect(() => readConfig({ SMTP_URL: 'https://user:hush@smtp.example.com' })).not.toThrow(/hush/)
  const { smtp } = readConfig({ SMTP_URL, WAYBILL_PUBLIC_URL: 'https://waybill.example.com' })
  expect(smtp).toMatchObject({ host: 'smtp.example.com', port: 465, from: 'waybill@waybill.example.com' })
  expect(readConfig({}).smtp).toBeUndefined()
})

test('reads the private hosts of webhooks in the spelling of URLs', () => {
  const text = 'Orders.shop.svc.cluster.local, *.INTERN.example.com ,10.0.3.7,fd00:0::7,bücher.lan.'
  expect(readConfig({ WEBHOOK_PRIVATE_HOSTS: text }).webhooks.privateHosts).toEqual([
    'orders.shop.svc.cluster.local',
    '*.intern.example.com',
    '10.0.3.7',
    'fd00::7',
    'xn--bcher-kva.lan',
  ])
  expect(readConfig({}).webhooks.privateHosts).toEqual([])
})

test('accepts addresses, ranges and named groups as proxies', () => {
  expect(readConfig({ TRUST_PROXY: '10.0.0.0/8, loopback ,2001:db8::1' }).trustedProxies).toEqual([
    '10.0.0.0/8',
    'loopback',
    '2001:db8::1',
  ])
})

test.runIf(process.platform === 'linux')('creates the embedded key although the disk was full at first', async () => {
  const dataDir = await folderForTest()
  const module = pathToFileURL(path.resolve('src/platform/config.ts')).href
  const script = `(await import('${module}')).readOrCreateSecretKey('${dataDir}')`
  // No file can become longer than 0 bytes.
  const full = spawnSync('sh', [
    '-c',
    'ulimit -f 0; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
    script,
  ])

  expect(full.stderr.toString()).toContain('EFBIG')
  expect(readdirSync(dataDir)).toEqual([])
  expect(readOrCreateSecretKey(dataDir)).toEqual(readOrCreateSecretKey(dataDir))
})

test('creates no key beside a database, which was made with another one', async () => {
  const dataDir = await folderForTest()
  mkdirSync(path.join(dataDir, 'pgdata'))
  writeFileSync(path.join(dataDir, 'pgdata/PG_VERSION'), '17\n')

  expect(() => readOrCreateSecretKey(dataDir)).toThrow(/Restore the file from a backup, or set WAYBILL_SECRET_KEY/)

  expect(readdirSync(dataDir)).toEqual(['pgdata'])
})

test('creates the embedded key once with private permissions and rejects a damaged one', async () => {
  const dataDir = await folderForTest()
  const file = path.join(dataDir, 'secret.key')
  expect(readOrCreateSecretKey(dataDir)).toEqual(readOrCreateSecretKey(dataDir))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(file, 'damaged')
  expect(() => readOrCreateSecretKey(dataDir)).toThrow(/Restore it from a backup/)
})
