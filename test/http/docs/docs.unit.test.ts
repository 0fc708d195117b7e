import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { registerDocs, registerHome } from '../../../src/http/docs/docs.ts'

const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')

let app: FastifyInstance

beforeEach(() => {
  app = fastify()
})

afterEach(() => app.close())

function get(url: string, headers: Record<string, string> = {}) {
  return app.inject({ url, headers })
}

describe('with Scalar installed', () => {
  beforeEach(() => {
    registerDocs(app)
    registerHome(app, { dashboard: false })
  })

  test('serves the committed openapi.json', async () => {
    const response = await get('/openapi.json')

    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.body).toBe(committed)
  })

  test.each([
    { file: 'grafana-dashboard.json', type: 'application/json; charset=utf-8' },
    { file: 'prometheus-rules.yml', type: 'application/yaml' },
  ])('serves $file', async ({ file, type }) => {
    const response = await get(`/docs/monitoring/${file}`)

    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe(type)
    expect(response.body).toBe(
      readFileSync(new URL(`../../../src/http/docs/monitoring/${file}`, import.meta.url), 'utf8'),
    )
  })

  test.each([
    { accepts: 'gzip, deflate, br, zstd', sends: 'br', unpack: brotliDecompressSync },
    { accepts: 'gzip', sends: 'gzip', unpack: gunzipSync },
    { accepts: 'br;q=0, gzip;q=0.5', sends: 'gzip', unpack: gunzipSync },
    { accepts: 'br;q=0, zstd', sends: undefined, unpack: (body: Buffer) => body },
    { accepts: '', sends: undefined, unpack: (body: Buffer) => body },
  ])('serves $sends for Accept-Encoding "$accepts"', async ({ accepts, sends, unpack }) => {
    const response = await get('/openapi.json', { 'accept-encoding': accepts })

    expect(response.headers['content-encoding']).toBe(sends)
    expect(response.headers['vary']).toBe('Accept-Encoding')
    expect(unpack(response.rawPayload).toString()).toBe(committed)
  })

  test('uses a different ETag for each encoding', async () => {
    const [plain, packed] = await Promise.all([get('/openapi.json'), get('/openapi.json', { 'accept-encoding': 'br' })])

    expect(plain.headers.etag).not.toBe(packed.headers.etag)
  })

  test('responds to a matching If-None-Match with 304 and no body', async () => {
    const first = await get('/docs/scalar.js', { 'accept-encoding': 'gzip' })

    const second = await get('/docs/scalar.js', {
      'accept-encoding': 'gzip',
      'if-none-match': String(first.headers.etag),
    })

    expect(second.statusCode).toBe(304)
    expect(second.body).toBe('')
    expect(second.headers.etag).toBe(first.headers.etag)
  })

  test('allows the page to load resources only from its own origin', async () => {
    const response = await get('/docs/api')

    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(response.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self';")
    expect(response.headers['content-security-policy']).not.toMatch(/https?:|\*|unsafe-eval/)
    expect(response.body).not.toMatch(/(src|href)="https?:/)
  })

  test('links from the home page to the documentation', async () => {
    const response = await get('/')

    expect(response.statusCode).toBe(200)
    expect(response.body).toContain('href="/docs"')
    expect(response.body).not.toMatch(/https?:|<script/)
  })
})

test('redirects the home page to the dashboard if it is built', async () => {
  registerHome(app, { dashboard: true })

  const response = await get('/')

  expect(response.statusCode).toBe(302)
  expect(response.headers.location).toBe('/settings/')
})

test('reports a missing Scalar file and links to openapi.json', async () => {
  registerDocs(app, { scalarFiles: ['/nowhere/scalar.js'] })

  const response = await get('/docs/api')

  expect(response.statusCode).toBe(200)
  expect(response.body).toContain('The API reference is not part of this installation')
  expect(response.body).toContain('href="/openapi.json"')
  expect((await get('/docs/scalar.js')).statusCode).toBe(404)
})
