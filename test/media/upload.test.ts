import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { isWaybillError, uploadMedia } from '../../src/client/client.ts'
import { cleanUpMedia } from '../../src/media/media.ts'
import { forFile } from '../support/lifetime.ts'
import { createTestMedia } from '../support/media.ts'
import { docx, jpeg, mp4, pdf, png, postForm, startFileServer, writeForm } from '../support/media-files.ts'
import { openSocket } from '../support/raw-socket.ts'
import { nodeForTest, startTestServer, type TestAccount, type TestServer, through } from '../support/server.ts'
import { startMediaServer } from './media-server.ts'

const { media, server, account, upload, uploadImage, uploadsOf, listFiles, listKeptFiles } =
  await forFile(startMediaServer())

interface PartialUpload {
  to?: TestServer
  by?: TestAccount
  query?: string
  body: Buffer
  contentType: string
  /** How much of the body is sent. */
  bytes: number
  connection?: 'close' | 'keep-alive'
}

/** Sends the start of an upload. The test decides when and whether the rest follows. */
function openUpload(upload: PartialUpload): Socket {
  const { to = server, by = account, query = '', body, contentType, bytes, connection = 'close' } = upload
  const socket = openSocket(to.url)
  socket.write(
    `POST /api/v1/media/upload${query} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${by.apiKey}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nConnection: ${connection}\r\n\r\n`,
  )
  socket.write(body.subarray(0, bytes))
  return socket
}

test.each([
  { content: jpeg(), kind: 'image', type: 'image/jpeg' },
  { content: png(), kind: 'image', type: 'image/png' },
  { content: mp4(), kind: 'video', type: 'video/mp4' },
  { content: pdf(), kind: 'document', type: 'application/pdf' },
  {
    content: docx(),
    kind: 'document',
    type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  },
  { content: Buffer.from('Grüße,\r\nAda\n'), kind: 'document', type: 'text/plain' },
])('stores a file of type $type and uploads it to WhatsApp', async ({ content, kind, type }) => {
  const response = await upload(content, 'Müller & Söhne.bin')
  const sha256 = createHash('sha256').update(content).digest('hex')

  expect(response.json()).toMatchObject({
    success: true,
    data: { kind, type, size: content.length, sha256, filename: 'Müller & Söhne.bin' },
  })
  expect(response.json().data['mediaId']).toMatch(/^med_[0-9a-z]{26}$/)
  expect(uploadsOf(account)).toContainEqual(expect.objectContaining({ type, size: content.length, sha256 }))
  expect(await listFiles()).toContain(response.json().data['mediaId'])
})

test('returns a file by REST and tRPC to its account only', async () => {
  const mediaId = await uploadImage()
  const other = await server.account()

  const response = await account.get(`/api/v1/media/${mediaId}`)
  expect(response.json().data).toMatchObject({ mediaId, kind: 'image', filename: 'photo.jpg' })
  expect(await account.trpc.media.get.query({ mediaId })).toEqual(response.json().data)
  expect((await other.get(`/api/v1/media/${mediaId}`)).json().error.code).toBe('MEDIA_NOT_FOUND')
  expect((await other.post('/api/v1/media/delete', { mediaId })).json().error.code).toBe('MEDIA_NOT_FOUND')
  expect((await account.get('/api/v1/media/upload')).statusCode).toBe(405)
})

test('uploads and throws typed errors with the client', async () => {
  const options = { url: server.url, apiKey: account.apiKey }
  const media = await uploadMedia(options, { file: new Blob([new Uint8Array(pdf())]), filename: 'Ü.pdf' })
  expect(media).toMatchObject({ kind: 'document', filename: 'Ü.pdf' })
  expect(await account.trpc.media.get.query({ mediaId: media.mediaId })).toEqual(media)

  const failed = await uploadMedia(options, { link: 'ftp://example.com/x' }).catch((error: unknown) => error)
  expect(isWaybillError(failed) && failed.data).toEqual({ code: 'VALIDATION_ERROR', field: 'link', httpStatus: 400 })
})

test('names the link if its file is empty', async () => {
  const files = await startFileServer((_request, response) => response.end())

  const response = await account.post('/api/v1/media/import', { link: `${files.url}/empty.pdf` })

  expect(response.json().error).toMatchObject({ code: 'VALIDATION_ERROR', field: 'link' })
  await files.close()
})

test('imports a file from a link by REST, tRPC and the body that media/upload also accepts', async () => {
  const content = pdf()
  const files = await startFileServer((_request, response) => response.end(content))
  const input = { link: `${files.url}/invoice-7.pdf`, accountId: account.whatsAppAccountId }

  const rest = await account.post('/api/v1/media/import', input)
  const { expiresAt: _, ...media } = rest.json().data
  expect(rest.statusCode).toBe(200)
  expect(media).toMatchObject({ kind: 'document', size: content.length, filename: 'invoice-7.pdf' })
  expect(await account.trpc.media.import.mutate(input)).toMatchObject(media)
  expect((await account.post('/api/v1/media/upload', input)).json().data).toMatchObject(media)
  expect(await listFiles()).toContain(media['mediaId'])

  await files.close()
  for (const path of ['import', 'upload'])
    expect((await account.post(`/api/v1/media/${path}`, input)).json().error.code).toBe('MEDIA_DOWNLOAD_FAILED')
  const text = await account.post('/api/v1/media/upload', 'x', { 'content-type': 'application/pdf' })
  expect(text.json().error.message).toContain('multipart/form-data, in the part "file"')
  const form = await account.post('/api/v1/media/import', 'x', { 'content-type': 'multipart/form-data; boundary=x' })
  expect(form.json().error.code).toBe('UNSUPPORTED_MEDIA_TYPE')
})

test('an import takes an upload slot and no place among the concurrent requests', async () => {
  const shared = createTestMedia({ maxUploads: 1, store: { kind: 'folder', path: path.join(media.folder, 'store') } })
  const node = await nodeForTest(server, { server: { maxConcurrentRequests: 1 }, deps: { media: shared } })
  const downloads: ServerResponse[] = []
  const files = await startFileServer((_request, response) => downloads.push(response))
  const caller = through(node, account)
  const importing = caller.trpc.media.import.mutate({ link: `${files.url}/invoice.pdf` })
  await expect.poll(() => downloads).toHaveLength(1)

  expect((await caller.post('/api/v1/message/send', sendMessage.example.input)).statusCode).toBe(200)
  expect((await caller.post('/api/v1/media/import', { link: `${files.url}/2.pdf` })).json().error).toEqual({
    code: 'RATE_LIMIT_EXCEEDED',
    message: 'This account already has 1 upload in progress, which is the limit. Try again in 5 seconds.',
  })

  downloads[0]?.end(pdf())
  expect(await importing).toMatchObject({ kind: 'document' })
  await files.close()
})

test('returns the same ID if the same file is uploaded again, and uploads it to WhatsApp once', async () => {
  const content = jpeg()
  const [first, second] = [await uploadImage(account, content), await uploadImage(account, content)]

  expect(second).toBe(first)
  const sha256 = createHash('sha256').update(content).digest('hex')
  expect(uploadsOf(account).filter((file) => file.sha256 === sha256)).toHaveLength(1)
})

test('uploads the same bytes to WhatsApp once for several concurrent uploads', async () => {
  const content = png(200_000)
  const responses = await Promise.all(['a.png', 'b.png', 'a.png', 'b.png'].map((name) => upload(content, name)))

  const ids = responses.map((response) => response.json().data['mediaId'])
  expect(new Set(ids).size).toBe(2)
  const sha256 = createHash('sha256').update(content).digest('hex')
  expect(uploadsOf(account).filter((file) => file.sha256 === sha256)).toHaveLength(1)
  expect((await listFiles()).filter((name) => ids.includes(name))).toHaveLength(2)
})

test('uploads the same bytes once when two processes receive them concurrently', async () => {
  const second = createTestMedia({ store: { kind: 'folder', path: path.join(media.folder, 'store') } })
  const node = await nodeForTest(server, { deps: { media: second } })
  const content = png(200_000)
  const parts = [{ name: 'file', content, filename: 'photo.png' }]
  const responses = await Promise.all(
    [server, node, server, node].map(({ url }) => postForm({ url, apiKey: account.apiKey }, parts)),
  )

  expect(new Set(responses.map((response) => response.json().data['mediaId'])).size).toBe(1)
  const sha256 = createHash('sha256').update(content).digest('hex')
  expect(uploadsOf(account).filter((file) => file.sha256 === sha256)).toHaveLength(1)
})

test('keeps nothing of a file that is deleted while it is uploaded again', async () => {
  const content = jpeg(70_000)
  const mediaId = await uploadImage(account, content)
  const deleteFirst: typeof media.store.put = async (key, file) => {
    await account.trpc.media.delete.mutate({ mediaId })
    await media.store.put(key, file)
  }
  const node = await nodeForTest(server, {
    deps: { media: { ...createTestMedia(), store: { ...media.store, put: deleteFirst } } },
  })

  const parts = [{ name: 'file', content, filename: 'photo.jpg' }]
  const lost = await postForm({ url: node.url, apiKey: account.apiKey }, parts)

  expect(lost.statusCode).toBe(503)
  expect(lost.headers['retry-after']).toBe('1')
  expect(lost.json().error).toEqual({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The same file was deleted while it was uploaded again. Nothing was stored. Try again.',
  })
  expect((await account.get(`/api/v1/media/${mediaId}`)).statusCode).toBe(404)
  expect(await listFiles()).not.toContain(mediaId)
  const again = await uploadImage(account, content)
  expect((await account.get(`/api/v1/media/${again}`)).statusCode).toBe(200)
})

test.each([
  { what: 'a web page', content: '<!DOCTYPE html><html></html>' },
  { what: 'a drawing', content: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  { what: 'a program', content: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]) },
  { what: 'a GIF', content: Buffer.from('GIF89a\x01\x00\x01\x00\x80\x00\x00', 'latin1') },
  { what: 'a ZIP file', content: Buffer.from('PK\x03\x04rest of it', 'latin1') },
])('rejects $what named photo.jpg', async ({ content }) => {
  const response = await postForm({ url: server.url, apiKey: account.apiKey }, [
    { name: 'file', content, filename: 'photo.jpg', type: 'image/jpeg' },
  ])

  expect(response.statusCode).toBe(415)
  expect(response.json().error.code).toBe('UNSUPPORTED_MEDIA_TYPE')
})

test.each([
  { kind: 'an image', content: () => jpeg(5 * 1024 * 1024 + 1), limit: '5 MB' },
  { kind: 'a video', content: () => mp4(16 * 1024 * 1024 + 1), limit: '16 MB' },
])('rejects $kind that is larger than WhatsApp accepts', async ({ kind, content, limit }) => {
  const response = await upload(content())

  expect(response.statusCode).toBe(413)
  expect(response.json().error).toEqual({
    code: 'PAYLOAD_TOO_LARGE',
    message: `The file is larger than ${limit}, which is the most that WhatsApp takes of ${kind}.`,
  })
})

test('accepts an image of exactly the maximum size', async () => {
  expect((await upload(jpeg(5 * 1024 * 1024))).statusCode).toBe(200)
})

test.each([
  { parts: [], says: /^file: is missing/ },
  { parts: [{ name: 'photo', content: 'x', filename: 'photo.jpg' }], says: /^file: is missing/ },
  { parts: [{ name: 'file', content: '' }], says: /^file: must not be empty/ },
  {
    parts: [
      { name: 'file', content: jpeg() },
      { name: 'file', content: jpeg() },
    ],
    says: /^file: was given twice/,
  },
  {
    parts: [
      { name: 'file', content: jpeg() },
      { name: 'acountId', content: 'x' },
    ],
    says: /^"acountId": no such field/,
  },
  {
    parts: [
      { name: 'filename', content: 'x'.repeat(241) },
      { name: 'file', content: jpeg() },
    ],
    says: /^filename: must have at most 240 characters/,
  },
  {
    parts: Array.from({ length: 40 }, (_, index) => ({ name: `f${index}`, content: 'x' })),
    says: /^The request has too many parts/,
  },
])('rejects an invalid form: $says', async ({ parts, says }) => {
  const response = await postForm({ url: server.url, apiKey: account.apiKey }, parts)

  expect(response.statusCode).toBe(400)
  expect(response.json().error.message).toMatch(says)
})

test('rejects an unknown WhatsApp account, and keeps nothing', async () => {
  const files = await listKeptFiles()
  const response = await postForm({ url: server.url, apiKey: account.apiKey }, [
    { name: 'file', content: jpeg() },
    { name: 'accountId', content: 'wa_unknown' },
  ])

  expect(response.json().error.code).toBe('NO_ACTIVE_ACCOUNT')
  expect(await listKeptFiles()).toEqual(files)
})

test('checks the API key before it reads the file', async () => {
  const response = await postForm({ url: server.url, apiKey: 'wb_live_wrong' }, [
    { name: 'file', content: jpeg(3_000_000) },
  ])

  expect(response.json().error.code).toBe('INVALID_API_KEY')
})

test.each([
  { headers: { 'content-type': 'image/jpeg' }, status: 415 },
  { headers: { 'content-type': 'multipart/form-data' }, status: 400 },
  { headers: { 'content-encoding': 'gzip' }, status: 415 },
] as { headers: Record<string, string>; status: number }[])(
  'rejects a body with the headers $headers',
  async ({ headers, status }) => {
    const response = await postForm(
      { url: server.url, apiKey: account.apiKey },
      [{ name: 'file', content: jpeg() }],
      headers,
    )

    expect(response.statusCode).toBe(status)
  },
)

test('cuts a long filename between characters', async () => {
  const response = await upload(jpeg(), `${'a'.repeat(235)}\u{1f600}.jpg`)
  expect(response.json().data['filename']).toBe(`${'a'.repeat(235)}.jpg`)
})

test.each(['../../../../tmp/x.jpg', '..\\..\\x.jpg', '/etc/passwd.jpg', 'a\u0000b.jpg'])(
  'keeps a file that is called %j in its folder',
  async (filename) => {
    const response = await upload(jpeg(), filename)
    const { mediaId } = response.json().data

    expect(response.json().data['filename'] ?? '').not.toMatch(/[/\\\u0000]/)
    expect(existsSync(path.join(media.folder, 'store', String(mediaId).slice(-2), String(mediaId)))).toBe(true)
    expect(readdirSync(media.folder).toSorted()).toEqual(['spool', 'store'])
  },
)

test.each([
  { at: 'in the file', keep: 0.5 },
  { at: 'before the last boundary', keep: 0.999 },
])('keeps nothing of an upload whose connection breaks $at', async ({ keep }) => {
  const { body, contentType } = writeForm([{ name: 'file', content: jpeg(1_000_000), filename: 'photo.jpg' }])
  const files = await listKeptFiles()
  const socket = openUpload({ body, contentType, bytes: Math.floor(body.length * keep) - 10 })
  await expect.poll(async () => (await listFiles()).length).toBe(files.length + 1)
  socket.resetAndDestroy()

  await expect.poll(listFiles).toEqual(files)
  expect(await findRows()).toEqual([])
})

test('rejects a form that ends in the middle of its file, and keeps nothing', async () => {
  const { body, contentType } = writeForm([{ name: 'file', content: jpeg(100_000), filename: 'photo.jpg' }])
  const files = await listKeptFiles()
  const response = await server.request('POST', '/api/v1/media/upload', {
    headers: { 'x-api-key': account.apiKey, 'content-type': contentType },
    body: body.subarray(0, 50_000),
  })

  expect(response.statusCode).toBe(400)
  expect(response.json().error.message).toBe('The request ended before the file was complete. Nothing was stored.')
  expect(await listKeptFiles()).toEqual(files)
})

/** Uploads that have not finished. */
function findRows() {
  return server.deps.db.selectFrom('media').select('id').where('stored_at', 'is', null).execute()
}

test('limits the concurrent uploads of an account, and frees their slots', async () => {
  const { body, contentType } = writeForm([{ name: 'file', content: jpeg(10_000), filename: 'photo.jpg' }])
  const files = (await listKeptFiles()).length
  const other = await server.account()
  const sockets = Array.from({ length: 8 }, () => openUpload({ by: other, body, contentType, bytes: 5_000 }))
  await expect.poll(async () => (await listFiles()).length).toBe(files + 8)

  const refused = await upload(jpeg(), 'photo.jpg', other)
  expect(refused.statusCode).toBe(429)
  expect(refused.headers['retry-after']).toBe('5')
  expect(refused.json().error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  expect((await upload(jpeg())).statusCode).toBe(200)

  const responses = sockets.map((socket) => text(socket))
  for (const socket of sockets) socket.write(body.subarray(5_000))
  for (const response of await Promise.all(responses)) expect(response).toMatch(/^HTTP\/1\.1 200/)
  expect((await upload(jpeg(), 'photo.jpg', other)).statusCode).toBe(200)
})

test('enforces the quota of each account, also with concurrent uploads', async () => {
  const other = await server.account()
  const responses = await Promise.all(Array.from({ length: 4 }, () => upload(mp4(12 * 1024 * 1024), 'film.mp4', other)))

  const codes = responses
    .map((response) => (response.statusCode === 200 ? 'OK' : response.json().error.code))
    .toSorted()
  expect(codes).toEqual(['MEDIA_QUOTA_EXCEEDED', 'OK', 'OK', 'OK'])
  const [kept] = responses.flatMap((response) => (response.statusCode === 200 ? [response.json().data['mediaId']] : []))
  await other.post('/api/v1/media/delete', { mediaId: kept })
  expect((await upload(mp4(12 * 1024 * 1024), 'film.mp4', other)).statusCode).toBe(200)
})

test('keeps nothing if WhatsApp is down or rejects the file', async () => {
  const files = await listKeptFiles()
  for (const [status, error, code] of [
    [503, { code: 2, message: '(#2) API Service' }, 'WHATSAPP_UNAVAILABLE'],
    [400, { code: 100, message: '(#100) Param file must be another one' }, 'MEDIA_REJECTED'],
  ] as const) {
    server.simulator.intercept(({ path: to }) =>
      to.endsWith('/media') ? { kind: 'json', status, body: { error } } : undefined,
    )
    expect((await upload(jpeg())).json().error.code).toBe(code)
    server.simulator.intercept(undefined)
  }
  expect(await listKeptFiles()).toEqual(files)
  expect(await findRows()).toEqual([])
})

test('deactivates a WhatsApp account if WhatsApp rejects its token during an upload', async () => {
  const other = await server.account()
  server.simulator.intercept(({ path: to }) =>
    to.endsWith('/media')
      ? { kind: 'json', status: 401, body: { error: { code: 190, message: 'Error validating access token' } } }
      : undefined,
  )
  const responses = [await upload(jpeg(), 'a.jpg', other), await upload(jpeg(), 'b.jpg', other)]
  server.simulator.intercept(undefined)

  expect(responses.map((response) => response.json().error.code)).toEqual(['NO_ACTIVE_ACCOUNT', 'NO_ACTIVE_ACCOUNT'])
  expect(responses[1]?.json().error.message).toContain('is inactive: WhatsApp rejected it (190)')
})

test('returns 503 and keeps nothing while the object store is unavailable', async () => {
  const away = createTestMedia({
    store: {
      kind: 's3',
      url: 'http://127.0.0.1:9/bucket',
      prefix: '',
      region: 'us-east-1',
      accessKeyId: 'key',
      secretAccessKey: 'secret',
    },
  })
  const node = await nodeForTest(server, { deps: { media: away } })
  const parts = [{ name: 'file', content: jpeg(), filename: 'photo.jpg' }]
  const response = await postForm({ url: node.url, apiKey: account.apiKey }, parts)

  expect(response.statusCode).toBe(503)
  expect(response.json().error).toEqual({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The media store is unavailable. Nothing was stored or sent. Try again in a moment.',
  })
  expect(readdirSync(path.join(away.folder, 'spool'))).toEqual([])
  expect((await account.get('/api/v1/media/med_01kah3b9mzf5vt2d0wq8r6x4ye')).statusCode).toBe(404)

  // Files that could not be removed are removed when the store is available again.
  await server.deps.db
    .updateTable('media')
    .set({ created_at: new Date(0) })
    .where('stored_at', 'is', null)
    .execute()
  await cleanUpMedia(server.deps)
  expect(await findRows()).toEqual([])
})

const stalledForm = writeForm([{ name: 'file', content: jpeg(100_000), filename: 'photo.jpg' }])

// Each takes the five seconds that a connection lingers, so they run concurrently.
test.concurrent.for([
  { stalls: 'before the file', ...stalledForm, bytes: 10 },
  { stalls: 'in the file', ...stalledForm, bytes: 50_000 },
  { stalls: 'after the file', ...stalledForm, bytes: stalledForm.body.length - 3 },
  { stalls: 'in a link', body: Buffer.from('{"link":"https://x.example"}'), contentType: 'application/json', bytes: 9 },
])('ends an upload that stalls $stalls, and keeps nothing of it', async ({ body, contentType, bytes }, { expect }) => {
  const slow = createTestMedia({ stallMilliseconds: 200 })
  const node = await startTestServer({ beside: server, deps: { media: slow } })
  const socket = openUpload({ to: node, body, contentType, bytes, connection: 'keep-alive' })

  // The server then waits a moment for the rest before it closes the connection.
  expect(await text(socket)).toMatch(
    /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*did not arrive in time: its sender stalled\. Nothing was stored or sent/,
  )
  expect(await readdir(path.join(slow.folder, 'spool')).catch(() => [])).toEqual([])
  await node.close()
})

interface LostAccess {
  what: string
  change: { table: 'api_keys' } | { api_enabled: boolean } | { allow_list: string[] }
  code: string
}

const lostAccess: LostAccess[] = [
  { what: 'its key is revoked', change: { table: 'api_keys' }, code: 'INVALID_API_KEY' },
  { what: 'API access is disabled', change: { api_enabled: false }, code: 'API_DISABLED' },
  { what: 'the allow-list excludes its address', change: { allow_list: ['192.0.2.1'] }, code: 'IP_NOT_ALLOWED' },
]

async function takeAccess({ accountId }: TestAccount, change: LostAccess['change']): Promise<void> {
  const { db } = server.deps
  if ('table' in change) await db.deleteFrom(change.table).where('account_id', '=', accountId).execute()
  else await db.updateTable('accounts').set(change).where('id', '=', accountId).execute()
}

test.each(['base64', 'quoted-printable'])('rejects a file in the transfer encoding %s', async (encoding) => {
  const files = await listKeptFiles()
  const content = jpeg().toString('base64')
  const response = await server.request('POST', '/api/v1/media/upload', {
    headers: { 'x-api-key': account.apiKey, 'content-type': 'multipart/form-data; boundary=b' },
    body: `--b\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${content}\r\n--b--\r\n`,
  })

  expect(response.statusCode).toBe(400)
  expect(response.text).toContain('file: must be sent as it is, without Content-Transfer-Encoding.')
  expect(await listKeptFiles()).toEqual(files)
})

test.each(lostAccess)('keeps no file that arrives after $what', async ({ change, code }) => {
  const by = await server.account()
  const files = await listKeptFiles()
  const { body, contentType } = writeForm([{ name: 'file', content: jpeg(100_000), filename: 'photo.jpg' }])
  const socket = openUpload({ by, query: '?batch=1', body, contentType, bytes: 50_000 })
  await expect.poll(async () => (await listFiles()).length).toBe(files.length + 1)

  await takeAccess(by, change)
  const response = text(socket)
  socket.write(body.subarray(50_000))

  expect(await response).toContain(`"code":"${code}"`)
  expect(uploadsOf(by)).toEqual([])
  expect(await listKeptFiles()).toEqual(files)
})

test.each(lostAccess)('keeps no file of a link that arrives after $what', async ({ change, code }) => {
  const by = await server.account()
  const kept = await listKeptFiles()
  const downloads: ServerResponse[] = []
  const files = await startFileServer((_request, response) => downloads.push(response))
  const importing = by.post('/api/v1/media/import', { link: `${files.url}/invoice.pdf` })
  await expect.poll(() => downloads).toHaveLength(1)

  await takeAccess(by, change)
  downloads[0]?.end(pdf())

  expect((await importing).json().error.code).toBe(code)
  expect(uploadsOf(by)).toEqual([])
  expect(await listKeptFiles()).toEqual(kept)
  await files.close()
})
