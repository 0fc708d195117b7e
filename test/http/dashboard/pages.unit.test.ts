import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import { beforeEach, expect, test } from 'vitest'
import { registerPages } from '../../../src/http/dashboard/pages.ts'
import { folderForTest, forTest } from '../../support/lifetime.ts'

let folder: string
let app: FastifyInstance

/** Writes files like a build, with a content hash in each file name. */
async function build(version: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(path.join(folder, 'assets'), { recursive: true })
  await writeFile(path.join(folder, 'index.html'), `<script type="module" src="assets/app-${version}.js"></script>`)
  await writeFile(path.join(folder, `assets/app-${version}.js`), `console.log('${version}')`)
}

beforeEach(async () => {
  folder = await folderForTest()
  app = await forTest(Fastify())
})

test('keeps serving its pages after a new build replaces them', async () => {
  await build('one')
  registerPages(app, folder)
  await build('two')

  expect((await app.inject('/settings/acc_1/messages')).body).toContain('app-one.js')
  expect(await app.inject('/settings/assets/app-one.js')).toMatchObject({ statusCode: 200, body: "console.log('one')" })
  expect((await app.inject('/settings/assets/app-two.js')).statusCode).toBe(404)
})

test('revalidates the page on each request and caches its assets forever', async () => {
  await build('one')
  registerPages(app, folder)

  expect((await app.inject('/settings/')).headers['cache-control']).toBe('no-cache')
  expect((await app.inject('/settings/assets/app-one.js')).headers['cache-control']).toContain('immutable')
})

test('serves a file that the build has compressed, in each encoding', async () => {
  await build('one')
  const script = Array.from({ length: 500 }, (_, index) => `console.log(${index})`).join('\n')
  // The server would compress it better.
  const compressed = brotliCompressSync(script, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } })
  await writeFile(path.join(folder, 'assets/app-one.js.br'), compressed)
  await rm(path.join(folder, 'assets/app-one.js'))
  registerPages(app, folder)
  const get = (accepted: string) =>
    app.inject({ url: '/settings/assets/app-one.js', headers: { 'accept-encoding': accepted } })

  const response = await get('gzip, br')
  expect(response.headers).toMatchObject({ 'content-encoding': 'br', 'content-type': 'text/javascript; charset=utf-8' })
  expect(response.rawPayload).toEqual(compressed)
  const zipped = await get('gzip')
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(script)
  const plain = await get('identity')
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.body).toBe(script)
  expect((await app.inject('/settings/assets/app-one.js.br')).statusCode).toBe(404)
})
