import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { spool } from '../../src/media/spool.ts'
import { compound, docx, isoMedia, jpeg, mp4, pdf, png, zip } from '../support/media-files.ts'

const folder = path.join(tmpdir(), `waybill-types-${randomUUID()}`)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The type of a file that arrives in pieces, or the code of its rejection. Nothing stays on disk. */
async function detect(content: Buffer, pieceBytes = 64 * 1024): Promise<string> {
  const pieces = Array.from({ length: Math.ceil(content.length / pieceBytes) }, (_, index) =>
    content.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  )
  try {
    const file = await spool(Readable.from(pieces, { objectMode: false }), { spoolDir: folder })
    await file.discard()
    return file.type
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  } finally {
    expect(await readdir(folder)).toEqual([])
  }
}

const office = 'application/vnd.openxmlformats-officedocument'
const refused = 'UNSUPPORTED_MEDIA_TYPE'

test.each(['constructor', 'toString', '__proto__'])('takes a file that contains %s for no document', async (name) => {
  expect(await detect(zip(['[Content_Types].xml', name]))).toBe(refused)
})

test.each([
  { what: 'a JPEG', content: jpeg(), type: 'image/jpeg' },
  { what: 'a PNG', content: png(), type: 'image/png' },
  { what: 'a PDF', content: pdf(), type: 'application/pdf' },
  { what: 'an MP4', content: mp4(), type: 'video/mp4' },
  { what: 'an MP4 of a camera', content: isoMedia('avc1'), type: 'video/mp4' },
  { what: 'a 3GPP video', content: isoMedia('3gp5'), type: 'video/3gpp' },
  { what: 'a Word document', content: docx(), type: `${office}.wordprocessingml.document` },
  { what: 'a sheet', content: zip(['[Content_Types].xml', 'xl/workbook.xml']), type: `${office}.spreadsheetml.sheet` },
  {
    what: 'slides',
    content: zip(['[Content_Types].xml', 'ppt/presentation.xml']),
    type: `${office}.presentationml.presentation`,
  },
  { what: 'an old Word document', content: compound('WordDocument'), type: 'application/msword' },
  { what: 'an old sheet', content: compound('Workbook', 100_000), type: 'application/vnd.ms-excel' },
  // The name of the stream spans two reads of 64 KiB.
  { what: 'old slides', content: compound('PowerPoint Document', 65_536 - 20), type: 'application/vnd.ms-powerpoint' },
  { what: 'text', content: Buffer.from('a,b\r\n1,2\r\n'), type: 'text/plain' },
  { what: 'long text with a character at each border', content: Buffer.from('€'.repeat(100_000)), type: 'text/plain' },
  { what: 'one letter', content: Buffer.from('a'), type: 'text/plain' },
])('detects the type of $what', async ({ content, type }) => {
  expect(await detect(content)).toBe(type)
  expect(await detect(content, 7)).toBe(type)
})

test.each([
  { what: 'a GIF', content: Buffer.from('GIF89a\u0001\u0000') },
  { what: 'a WebP image', content: Buffer.from('RIFF\u0010\u0000\u0000\u0000WEBPVP8 ', 'latin1') },
  { what: 'an HEIC image', content: isoMedia('heic') },
  { what: 'an AVIF image', content: isoMedia('avif') },
  { what: 'a QuickTime video', content: isoMedia('qt  ') },
  { what: 'a sound', content: isoMedia('M4A ') },
  { what: 'a Windows program', content: Buffer.from('MZ\u0090\u0000\u0003', 'latin1') },
  { what: 'a web page', content: Buffer.from('  <!doctype HTML><p>') },
  { what: 'XML', content: Buffer.from('<?xml version="1.0"?><a/>') },
  { what: 'an SVG drawing', content: Buffer.from('\n<svg onload="alert(1)"/>') },
  { what: 'text that is not UTF-8', content: Buffer.from('Gr\xfc\xdfe', 'latin1') },
  { what: 'text that ends in a character', content: Buffer.from('€').subarray(0, 2) },
  { what: 'text with binary data at its end', content: Buffer.from(`${'a'.repeat(100_000)}\u0000`) },
  { what: 'a ZIP file of something else', content: zip(['readme.txt', 'program.exe']) },
  { what: 'a ZIP file that only names itself a document', content: zip(['word/document.xml']) },
  { what: 'a ZIP file without a directory', content: docx().subarray(0, 60) },
  {
    what: 'a ZIP file whose directory is elsewhere',
    content: zip(['[Content_Types].xml', 'word/document.xml'], { offset: 4_000_000 }),
  },
  {
    what: 'a ZIP file whose directory claims four gigabytes',
    content: zip(['[Content_Types].xml', 'word/document.xml'], { directoryBytes: 0xffffffff }),
  },
  {
    what: 'a ZIP file whose directory is shorter than it says',
    content: zip(['[Content_Types].xml', 'word/document.xml'], { directoryBytes: 120, offset: 10 }),
  },
  { what: 'another compound file', content: compound('Contents') },
])('rejects $what', async ({ content }) => {
  expect(await detect(content)).toBe(refused)
})

test('rejects a large file of a wrong type after its first bytes', async () => {
  let read = 0
  async function* endless() {
    for (;;) {
      read += 65_536
      yield Buffer.alloc(65_536)
    }
  }
  await expect(spool(Readable.from(endless(), { objectMode: false }), { spoolDir: folder })).rejects.toMatchObject({
    code: refused,
  })
  expect(read).toBeLessThan(1024 * 1024)
  expect(await readdir(folder)).toEqual([])
})
