import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, test } from 'vitest'
import { createTemplate } from '../../../contracts/api/template-changes.ts'
import { testMediaPath } from '../../../contracts/dashboard/template.ts'
import { samplesPath } from '../../../contracts/dashboard/template-changes.ts'
import { forFile } from '../../support/lifetime.ts'
import { createTestMedia } from '../../support/media.ts'
import { docx, jpeg, mp4, type Part, pdf, png, writeForm } from '../../support/media-files.ts'
import { signedInOwner, type TestOwner, visitor } from '../../support/user.ts'
import { nodeForTest, startTestServer, type TestAccount, type TestServer } from '../../support/server.ts'

let account: TestAccount
let owner: TestOwner
const media = createTestMedia()
const server = await forFile(startTestServer({ deps: { media } }))
beforeEach(async () => {
  account = await server.account()
  owner = await signedInOwner(server, account.accountId)
})

const pathOf = (query: Record<string, string>) => `/settings/samples?${new URLSearchParams(query)}`
const fileOf = (content: Buffer): Part[] => [{ name: 'file', content, filename: 'sample' }]

function upload(content: Buffer, { by = owner, format = 'IMAGE', headers = {}, ...query }: Upload = {}) {
  return by.postForm(pathOf({ accountId: account.accountId, format, ...query }), fileOf(content), headers)
}
interface Upload {
  by?: TestOwner
  format?: string
  accountId?: string
  whatsAppAccountId?: string
  headers?: Record<string, string>
}

const uploadsAtWhatsApp = () =>
  server.simulator.requests.filter((request) => request.path.startsWith('/upload:')).length
const spooled = ({ folder } = media) => readdir(path.join(folder, 'spool')).catch(() => [])

test.each([
  { format: 'IMAGE', content: png() },
  { format: 'IMAGE', content: jpeg(5 * 1024 * 1024) },
  { format: 'VIDEO', content: mp4() },
  { format: 'DOCUMENT', content: pdf() },
])(
  'uploads a sample for a header of format $format, and its handle creates a template',
  async ({ format, content }) => {
    const response = await upload(content, { format })

    expect(response.json()).toEqual({ success: true, data: { handle: expect.stringMatching(/^4::/) } })
    const handle = String(response.json().data['handle'])
    const stored = await fetch(`${server.simulator.url}/samples/${handle.replace('4::', '')}`)
    // Compares with `equals`, because a failure would otherwise print millions of bytes.
    expect(Buffer.from(await stored.arrayBuffer()).equals(content)).toBe(true)
    const template = {
      ...createTemplate.example.input,
      name: `with_${format.toLowerCase()}_${content.length}_pending`,
      header: { format, sample: { handle } },
    }
    const created = await owner.mutate('template.create', { accountId: account.accountId, template })
    expect(created.data).toMatchObject({ status: 'PENDING', changed: true })
    expect(await spooled()).toEqual([])
    const audit = await owner.query<{ items: object[] }>('audit.list', { accountId: account.accountId })
    expect(audit.data.items).toContainEqual(
      expect.objectContaining({ what: `uploaded a sample ${format.toLowerCase()} for a template`, outcome: 'done' }),
    )
  },
)

test.each([
  { format: 'IMAGE', content: pdf(), message: 'file: must be a JPEG or PNG image' },
  { format: 'VIDEO', content: png(), message: 'file: must be an MP4 video' },
  { format: 'DOCUMENT', content: docx(), message: 'file: must be a PDF document' },
  { format: 'IMAGE', content: Buffer.from('<svg onload="alert(1)"/>'), message: 'file: must be a JPEG or PNG image' },
  { format: 'IMAGE', content: Buffer.from('MZ\x90\x00\x03 a program', 'latin1'), message: 'file: must be a JPEG' },
  { format: 'IMAGE', content: Buffer.alloc(0), message: 'file: must not be empty.' },
  { format: 'TEXT', content: png(), message: 'format: ' },
])('rejects a file of a wrong type for format $format: $message', async ({ format, content, message }) => {
  const before = uploadsAtWhatsApp()
  const response = await upload(content, { format })

  expect(response.statusCode).toBe(400)
  expect(response.json().error).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining(message) })
  expect(uploadsAtWhatsApp()).toBe(before)
  expect(await spooled()).toEqual([])
})

test.each([
  { format: 'IMAGE', content: jpeg(5 * 1024 * 1024 + 1), megabytes: 5 },
  { format: 'VIDEO', content: mp4(16 * 1024 * 1024 + 1), megabytes: 16 },
])('rejects a file larger than $megabytes MB', async ({ format, content, megabytes }) => {
  const before = uploadsAtWhatsApp()
  const response = await upload(content, { format })

  expect(response.statusCode).toBe(413)
  expect(response.json().error.message).toContain(`larger than ${megabytes} MB`)
  expect(uploadsAtWhatsApp()).toBe(before)
  expect(await spooled()).toEqual([])
})

/** Writes the head of an upload and a part of its body by hand. */
function open(
  by: TestOwner,
  { bytes, length, at = server }: { bytes?: number; length?: number; at?: TestServer } = {},
) {
  const { body, contentType } = writeForm(fileOf(jpeg(100_000)))
  const { host, port } = new URL(at.url)
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
  const target = pathOf({ accountId: account.accountId, format: 'IMAGE' })
  socket.write(
    `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${at.url}\r\nCookie: ${by.cookie()}\r\nContent-Type: ${contentType}\r\nContent-Length: ${length ?? body.length}\r\n\r\n`,
  )
  socket.write(body.subarray(0, bytes))
  return socket
}

test('discards an upload that is interrupted, and frees its slot', async () => {
  const before = uploadsAtWhatsApp()
  const sockets = Array.from({ length: 8 }, () => open(owner, { bytes: 50_000 }))
  await expect.poll(() => spooled()).toHaveLength(8)
  expect((await upload(png())).json().error.code).toBe('RATE_LIMIT_EXCEEDED')

  for (const socket of sockets) socket.destroy()

  await expect.poll(() => spooled()).toEqual([])
  expect(uploadsAtWhatsApp()).toBe(before)
  expect((await upload(png())).statusCode).toBe(200)
})

test('ends an upload that stalls', async () => {
  const hasty = createTestMedia({ stallMilliseconds: 200 })
  const node = await nodeForTest(server, { deps: { media: hasty } })
  expect(await text(open(owner, { bytes: 50_000, at: node }))).toMatch(/^HTTP\/1\.1 503 [^]*its sender stalled/)
  expect(await spooled(hasty)).toEqual([])
})

test('rejects a body whose declared length is larger than any file', async () => {
  const response = await text(open(owner, { bytes: 1000, length: 200 * 1024 * 1024 }))
  expect(response).toMatch(/^HTTP\/1\.1 413 [^]*larger than 100 MB/)
})

test('rejects callers who may not upload, before it reads the file', async () => {
  const viewer = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const outsider = await signedInOwner(server, (await server.account()).accountId)
  const before = uploadsAtWhatsApp()

  expect((await upload(png(), { by: viewer })).json().error.code).toBe('ROLE_REQUIRED')
  expect((await upload(png(), { by: outsider })).json().error.code).toBe('NOT_FOUND')
  expect((await upload(png(), { by: visitor(server) })).json().error.code).toBe('SIGN_IN_REQUIRED')
  const foreign = { origin: 'https://evil.example' }
  expect((await upload(png(), { headers: foreign })).json().error.code).toBe('FOREIGN_ORIGIN')
  // The server responds although most of the body never arrives.
  expect(await text(open(viewer, { bytes: 1000, length: 90 * 1024 * 1024 }))).toMatch(/^HTTP\/1\.1 403 /)

  expect(uploadsAtWhatsApp()).toBe(before)
  expect(await spooled()).toEqual([])
})

test.each([samplesPath, testMediaPath])('keeps no file for %s of a member who is removed meanwhile', async (path) => {
  const before = { samples: uploadsAtWhatsApp(), media: server.simulator.media.size }
  const { body, contentType } = writeForm(fileOf(jpeg(100_000)))
  const { host, port } = new URL(server.url)
  const format: Record<string, string> = path === samplesPath ? { format: 'IMAGE' } : {}
  const query = new URLSearchParams({ accountId: account.accountId, ...format })
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
  socket.write(
    `POST ${path}?${query} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${server.url}\r\nCookie: ${owner.cookie()}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
  )
  socket.write(body.subarray(0, 50_000))
  await expect.poll(() => spooled()).toHaveLength(1)

  await server.deps.db.deleteFrom('owner_roles').where('account_id', '=', account.accountId).execute()
  const response = text(socket)
  socket.write(body.subarray(50_000))

  expect(await response).toContain('"code":"NOT_FOUND"')
  expect({ samples: uploadsAtWhatsApp(), media: server.simulator.media.size }).toEqual(before)
  await expect.poll(() => spooled()).toEqual([])
})

test('does not upload with the WhatsApp account of another account', async () => {
  const { whatsAppAccountId } = await server.account()
  const before = uploadsAtWhatsApp()

  const response = await upload(png(), { whatsAppAccountId })

  expect(response.statusCode).toBeGreaterThanOrEqual(400)
  expect(response.json().success).toBe(false)
  expect(uploadsAtWhatsApp()).toBe(before)
  expect(await spooled()).toEqual([])
})

test('counts uploads towards the calls of WhatsApp that an account may cause', async () => {
  const content = png()
  const statuses = new Set<number>()
  for (let count = 0; count < 31; count++) statuses.add((await upload(content)).statusCode)
  expect([...statuses]).toEqual([200, 429])
})
