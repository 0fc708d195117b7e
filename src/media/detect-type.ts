import type { FileHandle } from 'node:fs/promises'

/**
 * What the first bytes of a file indicate. `container`: only the whole file shows which of several types it has, if
 * any.
 */
export type SniffedType = { type: string } | { container: 'zip' | 'compound' | 'text' }

/** Enough for every signature below. */
export const headBytes = 4096

const jpeg = Buffer.from([0xff, 0xd8, 0xff])
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const zip = Buffer.from([0x50, 0x4b, 0x03, 0x04])
/** Compound File Binary, the format of Office documents before 2007. */
const compound = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])

/** Returns undefined if no template can show such a file. File names and declared types are ignored. */
export function sniffType(head: Buffer): SniffedType | undefined {
  const starts = (signature: Buffer) => head.subarray(0, signature.length).equals(signature)
  if (starts(jpeg)) return { type: 'image/jpeg' }
  if (starts(png)) return { type: 'image/png' }
  if (head.subarray(0, 5).toString('latin1') === '%PDF-') return { type: 'application/pdf' }
  if (starts(zip)) return { container: 'zip' }
  if (starts(compound)) return { container: 'compound' }
  if (head.subarray(4, 8).toString('latin1') === 'ftyp') return sniffVideo(head.subarray(8, 12).toString('latin1'))
  return looksLikeText(head) ? { container: 'text' } : undefined
}

/** Brands of the ISO base media format that are not accepted videos: images (HEIF, AVIF), audio and QuickTime. */
const otherBrands = /^(?:hei|hev|mif|msf|avi|avs|M4A|M4B|M4P|F4A|F4B|qt|crx|jp2|jpm|jpx)/

function sniffVideo(brand: string): SniffedType | undefined {
  if (/^3g[p2]/.test(brand)) return { type: 'video/3gpp' }
  return otherBrands.test(brand) ? undefined : { type: 'video/mp4' }
}

/** Text contains no control characters other than tab, line feed, form feed, carriage return and escape. */
function looksLikeText(bytes: Buffer): boolean {
  return bytes.length > 0 && !bytes.some((byte) => byte === 0x7f || (byte < 0x20 && !textControls.has(byte)))
}
const textControls = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b])

/** HTML and SVG are text too, but run in a browser, and no template shows them. */
const markup = /^\s*<(?:!doctype|html|head|body|script|svg|\?xml)/i

/** Returns the type of a whole file; undefined if no template can show it. */
export async function detectType(sniffed: SniffedType, file: FileHandle, size: number): Promise<string | undefined> {
  if ('type' in sniffed) return sniffed.type
  switch (sniffed.container) {
    case 'zip':
      return findOfficeType(await listZipNames(file, size))
    case 'compound':
      return findCompoundType(file)
    case 'text':
      return (await isText(file)) ? 'text/plain' : undefined
  }
}

const office = 'application/vnd.openxmlformats-officedocument'
/** A `Map`, because the names come from the file: an object would know `constructor`. */
const mainParts: ReadonlyMap<string, string> = new Map([
  ['word/document.xml', `${office}.wordprocessingml.document`],
  ['xl/workbook.xml', `${office}.spreadsheetml.sheet`],
  ['ppt/presentation.xml', `${office}.presentationml.presentation`],
])

function findOfficeType(names: readonly string[] | undefined): string | undefined {
  if (!names?.includes('[Content_Types].xml')) return undefined
  return names.map((name) => mainParts.get(name)).find((type) => type !== undefined)
}

/** The directory contains the names of streams in UTF-16, and can be anywhere in the file. */
const compoundStreams: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('PowerPoint Document', 'utf16le'), 'application/vnd.ms-powerpoint'],
  [Buffer.from('WordDocument', 'utf16le'), 'application/msword'],
  [Buffer.from('Workbook', 'utf16le'), 'application/vnd.ms-excel'],
]

async function findCompoundType(file: FileHandle): Promise<string | undefined> {
  const found = new Set<string>()
  let previous: Buffer = Buffer.alloc(0)
  for await (const chunk of readChunks(file)) {
    for (const type of listStreamTypes(Buffer.concat([previous, chunk]))) found.add(type)
    // A name can span two chunks.
    previous = chunk.subarray(-64)
  }
  // A document can embed others: presentations embed spreadsheets and documents, and documents embed spreadsheets.
  return compoundStreams.map(([, type]) => type).find((type) => found.has(type))
}

function listStreamTypes(bytes: Buffer): string[] {
  return compoundStreams.flatMap(([name, type]) => (bytes.includes(name) ? [type] : []))
}

async function isText(file: FileHandle): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isFirst = true
  try {
    for await (const chunk of readChunks(file)) {
      const text = decoder.decode(chunk, { stream: true })
      if (!looksLikeText(chunk) || (isFirst && markup.test(text))) return false
      isFirst = false
    }
    decoder.decode()
    return true
  } catch {
    return false
  }
}

const chunkBytes = 64 * 1024

async function* readChunks(file: FileHandle): AsyncGenerator<Buffer, void, void> {
  let position = 0
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** End of central directory: 22 bytes and a comment (APPNOTE 6.3.10, 4.3.16). */
const endSignature = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const endBytes = 22
const maxCommentBytes = 0xffff
const entrySignature = 0x02014b50
const entryBytes = 46
/** Documents have a few hundred parts; the names of a million would fill the memory. */
const maxDirectoryBytes = 1024 * 1024

/**
 * Lists the names in the directory of a ZIP file; undefined if it has none. Nothing is decompressed, so a ZIP bomb does
 * no harm.
 */
async function listZipNames(file: FileHandle, size: number): Promise<string[] | undefined> {
  const tail = await readAt(file, Math.max(0, size - endBytes - maxCommentBytes), size)
  const end = tail.lastIndexOf(endSignature)
  if (end === -1 || end + endBytes > tail.length) return undefined
  const length = tail.readUInt32LE(end + 12)
  const start = tail.readUInt32LE(end + 16)
  if (length > maxDirectoryBytes || start + length > size) return undefined
  return readNames(await readAt(file, start, start + length))
}

function readNames(directory: Buffer): string[] | undefined {
  const names: string[] = []
  let at = 0
  while (at < directory.length) {
    if (at + entryBytes > directory.length || directory.readUInt32LE(at) !== entrySignature) return undefined
    const nameBytes = directory.readUInt16LE(at + 28)
    const otherBytes = directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
    names.push(directory.toString('utf8', at + entryBytes, at + entryBytes + nameBytes))
    at += entryBytes + nameBytes + otherBytes
  }
  return names
}

async function readAt(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.alloc(to - from)
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
  return buffer.subarray(0, bytesRead)
}
