import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { folderForFile, forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer } from '../../support/server.ts'

/** A clone, in which nothing was built: the first request builds the client. */
const server = await forFile(startTestServer())
const folder = await folderForFile()

const latest = '/client/waybill-client.tgz'

async function download(url: string, headers = {}) {
  const response = await fetch(server.url + url, { headers })
  return { response, content: Buffer.from(await response.arrayBuffer()) }
}

async function describe() {
  const response = await fetch(`${server.url}/client/waybill-client.json`)
  return (await response.json()) as { version: string; integrity: string; url: string }
}

test('serves an archive with the hash that it names, at an address that never changes its content', async () => {
  const { version, integrity, url } = await describe()
  const [current, immutable] = [await download(latest), await download(url)]

  expect(url).toMatch(new RegExp(`^/client/waybill-client-${RegExp.escape(version)}-[0-9a-f]{12}[.]tgz$`))
  expect(`sha512-${createHash('sha512').update(current.content).digest('base64')}`).toBe(integrity)
  expect(immutable.content.equals(current.content)).toBe(true)
  expect(current.response.headers.get('cache-control')).toBe('no-cache')
  expect(immutable.response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const etag = current.response.headers.get('etag') ?? ''
  expect((await download(latest, { 'if-none-match': etag })).response.status).toBe(304)
})

test('names its own version to a caller that asks for another one', async () => {
  const { response, content } = await download('/client/waybill-client-0.0.1-0123456789ab.tgz')

  expect(response.status).toBe(404)
  expect(response.headers.get('cache-control')).toBe('no-cache')
  expect(content.toString()).toContain((await describe()).url)
})

test('every process that builds the same sources serves the same archive', async () => {
  const other = await nodeForTest(server)
  const response = await fetch(other.url + latest)
  expect(Buffer.from(await response.arrayBuffer()).equals((await download(latest)).content)).toBe(true)
})

test('the archive has the package as tar reads it', async () => {
  const file = path.join(folder, 'client.tgz')
  await writeFile(file, (await download(latest)).content)
  const { stdout } = await promisify(execFile)('tar', ['-tzf', file])
  const files = stdout.trim().split('\n')

  expect(files.filter((name) => !name.startsWith('package/dist/'))).toEqual([
    'package/CHANGELOG.md',
    'package/LICENSE',
    'package/README.md',
    'package/package.json',
  ])
  expect(files).toContain('package/dist/esm/src/client/cli/main.js')
  expect(files).toContain('package/dist/cjs/src/receiver/webhook.d.ts')
})
