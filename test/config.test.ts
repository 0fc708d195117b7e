import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readConfig, readOrCreateSecretKey } from '../src/config.ts'

test('an empty environment is the embedded default', () => {
  expect(readConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    database: { kind: 'pglite' },
    trustedProxies: [],
  })
})

test('a variable set to nothing counts as absent', () => {
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
  { environment: { TRUST_PROXY: 'true' }, says: /^TRUST_PROXY: .*"true" is neither/ },
  { environment: { GRAPH_API_VERSION: '25' }, says: /^GRAPH_API_VERSION: must look like v25.0/ },
  { environment: { WAYBILL_RETENTION_DAYS: '2' }, says: /^WAYBILL_RETENTION_DAYS: must be at least 3: twice as long/ },
  { environment: { LOG_LEVEL: 'loud' }, says: /^LOG_LEVEL: must be one of/ },
])('$environment stops the start', ({ environment, says }) => {
  expect(() => readConfig(environment)).toThrow(says)
})

test('every wrong variable gets a line, and no value is repeated', () => {
  const wrong = { PORT: 'secret-1', DATABASE_URL: 'secret-2', LOG_LEVEL: 'secret-3' }
  expect(() => readConfig(wrong)).toThrow(/^PORT: .*\nDATABASE_URL: .*\nLOG_LEVEL: .*$/)
  expect(() => readConfig(wrong)).not.toThrow(/secret-/)
})

test('proxies are addresses, ranges and groups', () => {
  expect(readConfig({ TRUST_PROXY: '10.0.0.0/8, loopback ,2001:db8::1' }).trustedProxies).toEqual([
    '10.0.0.0/8',
    'loopback',
    '2001:db8::1',
  ])
})

test('the embedded key is made once, for its owner only, and refused when it is damaged', () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'waybill-key-'))
  const file = path.join(dataDir, 'secret.key')
  expect(readOrCreateSecretKey(dataDir)).toEqual(readOrCreateSecretKey(dataDir))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(file, 'damaged')
  expect(() => readOrCreateSecretKey(dataDir)).toThrow(/Restore it from a backup/)
  rmSync(dataDir, { recursive: true })
})
