import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, lstat, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { createFolderStore, createS3Store, StoreUnavailableError } from '../../src/media/object-store.ts'
import { createOwnedFolder, giveToOwnerOf } from '../../src/platform/files.ts'
import { folderForTest, forFile, forTest } from '../support/lifetime.ts'
import { startFileServer } from '../support/media-files.ts'

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' }
const region = 'eu-central-1'
const key = 'med_01kah3b9mzf5vt2d0wq8r6x4ye'
const file = path.join(tmpdir(), `waybill-s3-${randomUUID()}`)
const content = randomBytes(200_000)
const sha256 = createHash('sha256').update(content).digest('hex')

/** A bucket that checks what S3 checks: the signature of version 4, written from its description, and the hash. */
const objects = new Map<string, Buffer>()
let status: number | undefined

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request)
  const { method, url = '', headers } = request
  const answer = (code: number, content?: Buffer) => response.writeHead(code).end(content)
  if (status !== undefined) return void answer(status)
  if (headers.authorization !== sign(request)) return void answer(403)
  if (createHash('sha256').update(body).digest('hex') !== headers['x-amz-content-sha256']) return void answer(400)
  if (method === 'PUT') {
    // S3 accepts no chunked bodies.
    if (headers['content-length'] === undefined) return void answer(411)
    objects.set(url, body)
    return void answer(200)
  }
  const object = objects.get(url)
  if (method === 'DELETE') objects.delete(url)
  if (method === 'DELETE') return void answer(204)
  answer(object ? 200 : 404, object)
}

function hmac(secret: string | Buffer, data: string): Buffer {
  return createHmac('sha256', secret).update(data).digest()
}

/** AWS, "Create a signed AWS API request". */
function sign({ method, url, headers }: IncomingMessage): string {
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
  const time = String(headers['x-amz-date'])
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const request = [method, url, '', signed.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const signingKey = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`)
  const signature = hmac(signingKey, text).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
}

await writeFile(file, content)
const service = await forFile(startFileServer((request, response) => void serve(request, response)))
afterAll(() => rm(file))

function openStore(change: Partial<typeof credentials> = {}, prefix = 'waybill/media') {
  return createS3Store({ url: `${service.url}/bucket`, prefix, region, ...credentials, ...change })
}

test('stores, returns and deletes a file in a bucket with signed requests', async () => {
  const store = openStore()
  await store.put(key, { path: file, size: content.length, sha256, type: 'image/png' })

  expect([...objects.keys()]).toEqual([`/bucket/waybill/media/${key}`])
  const stream = await store.open(key)
  expect(stream && (await buffer(stream)).equals(content)).toBe(true)

  await store.delete(key)
  expect(await store.open(key)).toBeUndefined()
  await store.delete(key)
  await store.close()
})

test('stores at the top of a bucket without a prefix', async () => {
  const store = openStore({}, '')
  await store.put(key, { path: file, size: content.length, sha256, type: 'image/png' })
  expect([...objects.keys()]).toEqual([`/bucket/${key}`])
  await store.delete(key)
  await store.close()
})

test.each([
  { what: 'the secret is wrong', change: { secretAccessKey: 'wrong' }, answers: undefined },
  { what: 'the service fails', change: {}, answers: 503 },
  { what: 'the bucket redirects', change: {}, answers: 307 },
])('reports the store as unavailable if $what', async ({ change, answers }) => {
  const store = openStore(change)
  status = answers
  const put = store.put(key, { path: file, size: content.length, sha256, type: 'image/png' })
  await expect(put).rejects.toThrow(StoreUnavailableError)
  await expect(store.open(key)).rejects.toThrow(StoreUnavailableError)
  await expect(store.delete(key)).rejects.toThrow(StoreUnavailableError)
  status = undefined
  await store.close()
})

test('takes the status of a response whose body never ends', async () => {
  const service = await forTest(
    startFileServer((request, response) => {
      request.resume()
      response.writeHead(request.url?.endsWith('missing') ? 404 : 503)
      const drip = setInterval(() => response.write('x'), 10)
      response.once('close', () => clearInterval(drip))
    }),
  )
  const timeouts = { connect: 200, response: 5_000, read: 5_000, whole: 60_000 }
  const store = createS3Store({ url: service.url, prefix: '', region, ...credentials }, undefined, timeouts)

  await expect(store.put(key, { path: file, size: content.length, sha256, type: 'image/png' })).rejects.toThrow(
    StoreUnavailableError,
  )
  await expect(store.delete(key)).rejects.toThrow(StoreUnavailableError)
  await expect(store.open(key)).rejects.toThrow(StoreUnavailableError)
  expect(await store.open('missing')).toBeUndefined()
  await store.close()
})

test('gives up a file that the store receives too slowly', async () => {
  const service = await forTest(startFileServer(() => {}))
  const timeouts = { connect: 5_000, response: 60_000, read: 60_000, whole: 200 }
  const store = createS3Store({ url: service.url, prefix: '', region, ...credentials }, undefined, timeouts)

  await expect(store.put(key, { path: file, size: content.length, sha256, type: 'image/png' })).rejects.toThrow(
    StoreUnavailableError,
  )
  await store.close()
})

test('stores nothing if the bytes differ from their hash', async () => {
  const store = openStore()
  const put = store.put(key, { path: file, size: content.length, sha256: '0'.repeat(64), type: 'image/png' })
  await expect(put).rejects.toThrow(StoreUnavailableError)
  expect(objects.size).toBe(0)
  await store.close()
})

test('a command of root leaves no file that the owner of the folder cannot read', async () => {
  const folder = await folderForTest()
  const isRoot = process.getuid?.() === 0
  const owner = isRoot ? { uid: 12_345, gid: 12_346 } : await stat(folder)
  if (isRoot) await chown(folder, owner.uid, owner.gid)
  const upload = path.join(folder, 'upload')
  await writeFile(upload, content, { mode: 0o600 })

  await createFolderStore(path.join(folder, 'media')).put(key, {
    path: upload,
    size: content.length,
    sha256,
    type: 'image/png',
  })

  for (const name of ['media', 'media/ye', `media/ye/${key}`])
    expect(await stat(path.join(folder, name))).toMatchObject({ uid: owner.uid, gid: owner.gid })
})

test('a link in place of a file does not give away what it leads to', async () => {
  const folder = await folderForTest()
  const isRoot = process.getuid?.() === 0
  const outside = path.join(folder, 'outside')
  const owned = path.join(folder, 'owned')
  await createOwnedFolder(owned)
  await writeFile(outside, content)
  const before = await stat(outside)
  await symlink(outside, path.join(owned, 'link'))
  if (isRoot) await chown(owned, 12_345, 12_346)

  await giveToOwnerOf(owned, path.join(owned, 'link'))

  expect((await stat(outside)).uid).toBe(before.uid)
  expect((await lstat(path.join(owned, 'link'))).uid).toBe(isRoot ? 12_345 : before.uid)
})

test('deletes the incomplete copy of a file from another file system, which a killed process left', async () => {
  const folder = await folderForTest()
  const store = createFolderStore(folder)
  const part = path.join(folder, key.slice(-2), `${key}.part`)
  await mkdir(path.dirname(part))
  await writeFile(part, 'half')

  // Housekeeping does so for every file whose upload did not end.
  await store.delete(key)

  expect(existsSync(part)).toBe(false)
})
