import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { randomBytes } from 'node:crypto'
import { request } from 'undici'
import type { TestResponse } from './server.ts'
import { listen } from './listen.ts'

/** The smallest valid file of each type, with random bytes so that no two files are equal. */

const noise = (size: number) => randomBytes(size)

export function jpeg(size = 256): Buffer {
  return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), noise(size - 6), Buffer.from([0xff, 0xd9])])
}

export function png(size = 256): Buffer {
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), noise(size - 8)])
}

export function isoMedia(brand: string, size = 256): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0, 0x18]), Buffer.from(`ftyp${brand}`), noise(size - 12)])
}

export function mp4(size = 256): Buffer {
  return isoMedia('isom', size)
}

export function pdf(size = 256): Buffer {
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(size - 9)])
}

/** A ZIP file with empty entries of these names. `offset` moves its directory to a wrong place. */
export function zip(
  names: string[],
  { offset = 0, directoryBytes }: { offset?: number; directoryBytes?: number } = {},
) {
  const locals = names.map((name) => {
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50)
    header.writeUInt16LE(name.length, 26)
    return Buffer.concat([header, Buffer.from(name)])
  })
  const entries = names.map((name) => {
    const header = Buffer.alloc(46)
    header.writeUInt32LE(0x02014b50)
    header.writeUInt16LE(name.length, 28)
    return Buffer.concat([header, Buffer.from(name)])
  })
  const body = Buffer.concat(locals)
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt32LE(directoryBytes ?? directory.length, 12)
  end.writeUInt32LE(body.length + offset, 16)
  return Buffer.concat([body, directory, end])
}

export function docx(): Buffer {
  return zip(['[Content_Types].xml', `word/media/${noise(4).toString('hex')}.png`, 'word/document.xml'])
}

/** A Compound File Binary whose directory has a stream of this name, behind `before` other bytes. */
export function compound(stream: string, before = 512): Buffer {
  const signature = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
  return Buffer.concat([signature, Buffer.alloc(before), Buffer.from(stream, 'utf16le'), Buffer.alloc(512)])
}

export interface Part {
  name: string
  content: Buffer | string
  filename?: string
  type?: string
}

/** Writes a multipart/form-data body by hand, since a test also needs wrong ones. */
export function writeForm(parts: Part[]): { body: Buffer; contentType: string } {
  const boundary = `test-${randomBytes(8).toString('hex')}`
  const written = parts.flatMap(({ name, content, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`
    const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${typed}\r\n`
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')]
  })
  const body = Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)])
  return { body, contentType: `multipart/form-data; boundary=${boundary}` }
}

export async function postForm(
  { url, apiKey }: { url: string; apiKey: string },
  parts: Part[],
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const { body, contentType } = writeForm(parts)
  const response = await request(`${url}/api/v1/media/upload`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': contentType, ...headers },
    body,
  })
  const text = await response.body.text()
  return { statusCode: response.statusCode, headers: response.headers, text, json: () => JSON.parse(text) }
}

/** A third party's file server. */
export function startFileServer(serve: (request: IncomingMessage, response: ServerResponse) => void) {
  return listen(createServer(serve))
}
