import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Busboy } from '@fastify/busboy'

/** Reads a multipart/form-data body. Keeps only the metadata of a file, because a test can upload more than fits in memory. */
export async function readForm(request: IncomingMessage, contentType: string): Promise<Record<string, unknown>> {
  const form: Record<string, unknown> = {}
  const parser = new Busboy({ headers: { 'content-type': contentType } })
  parser.on('field', (name, value) => (form[name] = value))
  parser.on('file', (name, stream, filename, _encoding, type) => {
    const hash = createHash('sha256')
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      hash.update(chunk)
    })
    stream.on('error', (error) => parser.emit('error', error))
    stream.on('end', () => (form[name] = { filename, type, size, sha256: hash.digest('hex') }))
  })
  request.once('error', (error) => parser.emit('error', error)).pipe(parser)
  await once(parser, 'finish')
  return form
}
