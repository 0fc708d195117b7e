import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { createDownloader, downloadProblems, toDownloadError } from '../../src/media/download.ts'
import { spool } from '../../src/media/spool.ts'
import { forFile } from '../support/lifetime.ts'
import { jpeg, startFileServer } from '../support/media-files.ts'

const folder = path.join(tmpdir(), `waybill-download-${randomUUID()}`)
const open = new Set<ServerResponse>()

const photo = jpeg(10_000)
const largePhoto = jpeg(5 * 1024 * 1024)
const answers: Record<string, (response: ServerResponse) => void> = {
  '/photo.jpg': (response) => response.end(photo),
  '/large.jpg': (response) => response.end(largePhoto),
  '/moved.jpg': (response) => response.writeHead(302, { location: '/photo.jpg' }).end(),
  '/missing.jpg': (response) => response.writeHead(404).end('no'),
  '/silent.jpg': () => {},
  '/stalls.jpg': (response) => void response.writeHead(200, { 'content-length': 10_000 }).write(photo.subarray(0, 500)),
  // Ends before its announced length.
  '/short.jpg': (response) =>
    void response.writeHead(200, { 'content-length': 20_000 }).write(photo, () => response.socket?.resetAndDestroy()),
  // Announces nothing and never ends; image limits stop it.
  '/endless.jpg': (response) => {
    response.writeHead(200).write(photo)
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  },
  '/huge.jpg': (response) => void response.writeHead(200, { 'content-length': 200 * 1024 * 1024 }).write('x'),
  '/gzip.jpg': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(photo)),
  '/page.jpg': (response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end('<!doctype html>'),
  '/empty.jpg': (response) => response.writeHead(200).end(),
}

const files = await forFile(
  startFileServer((request, response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    answers[request.url ?? '']?.(response)
  }),
)
afterAll(() => rm(folder, { recursive: true, force: true }))

const timeoutMilliseconds = 60_000
const development = await forFile(createDownloader({ allowPrivate: true, timeoutMilliseconds }))
const impatient = await forFile(createDownloader({ allowPrivate: true, timeoutMilliseconds: 300 }))
/** As in production, where names resolve to these addresses. */
const strict = await forFile(
  createDownloader({
    allowPrivate: false,
    timeoutMilliseconds,
    resolve: (host) => {
      const known: Record<string, string[]> = {
        'internal.example.com': ['10.0.0.7'],
        'rebinding.example.com': ['93.184.216.34', '127.0.0.1'],
        'metadata.example.com': ['169.254.169.254'],
      }
      return known[host]
        ? Promise.resolve(known[host])
        : Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))
    },
  }),
)

async function download(
  link: string,
  downloader = development,
  stallMilliseconds = 20_000,
): Promise<{ code?: string; message: string }> {
  try {
    const file = await spool(await downloader.open(link), { spoolDir: folder, stallMilliseconds }, downloadProblems)
    await file.discard()
    return { message: `${file.type}, ${file.size} bytes` }
  } catch (error) {
    const { code, message } = toDownloadError(error)
    return { code, message }
  } finally {
    expect(await readdir(folder).catch(() => [])).toEqual([])
  }
}

test('downloads a file', async () => {
  expect(await download(`${files.url}/photo.jpg`)).toEqual({ message: 'image/jpeg, 10000 bytes' })
  expect(await download(`${files.url}/large.jpg`)).toEqual({ message: `image/jpeg, ${largePhoto.length} bytes` })
})

const failed = 'MEDIA_DOWNLOAD_FAILED'

test.each([
  { file: 'moved', code: failed, says: 'the server answered with a redirect (HTTP 302), which is not followed' },
  { file: 'missing', code: failed, says: 'the server answered HTTP 404' },
  { file: 'silent', code: failed, says: 'the server took too long', downloader: impatient },
  { file: 'stalls', code: failed, says: 'the server took too long', downloader: impatient },
  { file: 'short', code: failed, says: /the connection (ended|was lost)/ },
  { file: 'gzip', code: failed, says: 'the server sent the file compressed' },
  { file: 'endless', code: 'PAYLOAD_TOO_LARGE', says: 'larger than 5 MB' },
  { file: 'huge', code: 'PAYLOAD_TOO_LARGE', says: 'larger than 100 MB' },
  { file: 'page', code: 'UNSUPPORTED_MEDIA_TYPE', says: 'of no type that a template can show' },
  { file: 'empty', code: 'VALIDATION_ERROR', says: 'link: the file at this address is empty' },
])(
  'rejects the file $file, keeps nothing of it and closes the connection',
  async ({ file, code, says, downloader }) => {
    const answer = await download(`${files.url}/${file}.jpg`, downloader)

    expect(answer.code).toBe(code)
    expect(answer.message).toMatch(says)
    await expect.poll(() => open.size).toBe(0)
  },
)

test.each([
  'http://example.com/a.jpg',
  'https://127.0.0.1/a.jpg',
  'https://2130706433/a.jpg',
  'https://[::ffff:10.0.0.1]/a.jpg',
  'https://169.254.169.254/latest/meta-data/',
  'https://localhost/a.jpg',
  'https://user:secret@example.com/a.jpg',
  'file:///etc/passwd',
])('does not connect to %s', async (link) => {
  const answer = await download(link, strict)

  expect(answer.code).toBe('VALIDATION_ERROR')
  expect(answer.message).toMatch(/^link: must be a public https address/)
})

test.each(['internal', 'rebinding', 'metadata', 'unknown'])(
  'gives the same answer for the host %s.example.com, whether it is private or does not exist',
  async (host) => {
    expect(await download(`https://${host}.example.com/a.jpg`, strict)).toEqual({
      code: failed,
      message: 'link: the host could not be resolved, or is not public. Nothing was stored.',
    })
  },
)

test('reports only that no connection is possible if a port is closed', async () => {
  expect(await download('http://127.0.0.1:9/a.jpg')).toEqual({
    code: failed,
    message: 'link: connection refused. Nothing was stored.',
  })
})

test('blames the link for a file that arrives too slowly', async () => {
  expect(await download(`${files.url}/stalls.jpg`, development, 100)).toEqual({
    code: failed,
    message: 'link: the server took too long. Nothing was stored.',
  })
})
