import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A static file, by its path or its content, which may be made at the first request. */
export type Source = SourceOptions &
  ({ file: URL | string; content?: undefined } | { content: string | (() => Promise<string>) })

interface SourceOptions {
  contentType: string
  headers?: Record<string, string>
  /** Reads the file at startup, for a file that may be replaced later. */
  eager?: boolean
}

/** Content with its hash for revalidation and its cached compressed versions. */
export interface Asset {
  content: Buffer
  hash: string
  compressed: Map<Encoding, Promise<Buffer>>
}

const compressors = {
  br: (content: Buffer) =>
    promisify(brotliCompress)(content, {
      // Level 9 takes a fraction of a second for the four megabytes of Scalar; 11, the default, takes ten.
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
    }),
  gzip: (content: Buffer) => promisify(gzip)(content),
}
type Encoding = keyof typeof compressors

/**
 * Serves a compressed file. Unless eager, it is read at the first request and then cached, because most processes never
 * serve it.
 */
export function serveAsset(
  app: FastifyInstance,
  url: string,
  { contentType, headers = {}, eager, ...source }: Source,
): void {
  let asset = eager === true ? readAsset(source) : undefined
  app.get(url, async (request, reply) => {
    const read = await (asset ?? readAsset(source))
    asset = read
    void reply.headers({ 'Cache-Control': 'no-cache', ...headers, 'Content-Type': contentType })
    return sendAsset(request, reply, read)
  })
}

function readAsset(source: Pick<Source, 'content'> | { file: URL | string }): Asset | Promise<Asset> {
  if ('file' in source) return createAsset(readFileSync(source.file))
  if (typeof source.content === 'function') return source.content().then((text) => createAsset(Buffer.from(text)))
  return createAsset(Buffer.from(source.content ?? ''))
}

export function createAsset(content: Buffer): Asset {
  return { content, hash: createHash('sha256').update(content).digest('base64url'), compressed: new Map() }
}

/** Responds with 304 if the client has the current version (RFC 9110, 13.1.2). */
export async function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): Promise<FastifyReply> {
  const encoding = chooseEncoding(request.headers['accept-encoding'])
  void reply.header('Vary', 'Accept-Encoding').header('ETag', `"${asset.hash}${encoding ? `-${encoding}` : ''}"`)
  if (request.headers['if-none-match']?.includes(asset.hash)) return reply.code(304).send()
  if (!encoding) return reply.send(asset.content)
  return reply.header('Content-Encoding', encoding).send(await compress(asset, encoding))
}

function chooseEncoding(accepted = ''): Encoding | undefined {
  const offers = accepted.split(',').map((offer) => offer.trim())
  return (['br', 'gzip'] as const).find((encoding) => offers.some((offer) => accepts(offer, encoding)))
}

/** Accepts `br` and `br;q=0.5`, but not `br;q=0` (RFC 9110, 12.5.3). */
function accepts(offer: string, encoding: Encoding): boolean {
  const [name, weight = 'q=1'] = offer.split(';').map((part) => part.trim())
  return name === encoding && !/^q=0(\.0*)?$/.test(weight)
}

function compress({ content, compressed }: Asset, encoding: Encoding): Promise<Buffer> {
  const known = compressed.get(encoding)
  if (known) return known
  const started = compressors[encoding](content)
  compressed.set(encoding, started)
  return started
}
