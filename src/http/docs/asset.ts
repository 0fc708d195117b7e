import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A static file, by its path or its content, which may be made at the first request. */
export type Source = SourceOptions &
  ({ file: URL | string; content?: undefined } | { content: string | (() => Promise<string>) })

interface SourceOptions {
  contentType: string
  headers?: Record<string, string>
  /** Reads the file at startup, for a file that may be replaced later. */
  eager?: boolean
  /** How the file is stored. */
  encoding?: StoredEncoding
}

/** Content as it is stored, with its hash for revalidation and its cached encodings. */
export interface Asset {
  hash: string
  stored: Buffer
  encoded: Map<Encoding, Promise<Buffer>>
}

const compressors = {
  br: (content: Buffer) =>
    promisify(brotliCompress)(content, {
      // Level 9 takes a fraction of a second for the four megabytes of Scalar; 11, the default, takes ten.
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
    }),
  gzip: (content: Buffer) => promisify(gzip)(content),
}
/** `identity` is the plain content (RFC 9110, 8.4.1). */
type Encoding = keyof typeof compressors | 'identity'
type StoredEncoding = 'br' | 'identity'

/**
 * Serves a compressed file. Unless eager, it is read at the first request and then cached, because most processes never
 * serve it.
 */
export function serveAsset(
  app: FastifyInstance,
  url: string,
  { contentType, headers = {}, eager, encoding, ...source }: Source,
): void {
  let asset = eager === true ? readAsset(source, encoding) : undefined
  app.get(url, async (request, reply) => {
    const read = await (asset ?? readAsset(source, encoding))
    asset = read
    void reply.headers({ 'Cache-Control': 'no-cache', ...headers, 'Content-Type': contentType })
    return sendAsset(request, reply, read)
  })
}

/** Components position their elements with inline styles. Everything else must come from this server. */
export function contentSecurityPolicy({ forms }: { forms: 'self' | 'none' }): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "font-src 'self' data:",
    "img-src 'self' data:",
    "base-uri 'none'",
    `form-action '${forms}'`,
    "frame-ancestors 'none'",
  ].join('; ')
}

function readAsset(
  source: Pick<Source, 'content'> | { file: URL | string },
  encoding: StoredEncoding | undefined,
): Asset | Promise<Asset> {
  if ('file' in source) return createAsset(readFileSync(source.file), encoding)
  if (typeof source.content === 'function') return source.content().then((text) => createAsset(Buffer.from(text)))
  return createAsset(Buffer.from(source.content ?? ''))
}

export function createAsset(content: Buffer, encoding: StoredEncoding = 'identity'): Asset {
  const hash = createHash('sha256').update(content).digest('base64url')
  return { hash, stored: content, encoded: new Map([[encoding, Promise.resolve(content)]]) }
}

/** Responds with 304 if the client has the current version (RFC 9110, 13.1.2). */
export async function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): Promise<FastifyReply> {
  const encoding = chooseEncoding(request.headers['accept-encoding'])
  const isPlain = encoding === 'identity'
  void reply.header('Vary', 'Accept-Encoding').header('ETag', `"${asset.hash}${isPlain ? '' : `-${encoding}`}"`)
  if (request.headers['if-none-match']?.includes(asset.hash)) return reply.code(304).send()
  if (!isPlain) void reply.header('Content-Encoding', encoding)
  return reply.send(await encode(asset, encoding))
}

function chooseEncoding(accepted = ''): Encoding {
  const offers = accepted.split(',').map((offer) => offer.trim())
  return (['br', 'gzip'] as const).find((encoding) => offers.some((offer) => accepts(offer, encoding))) ?? 'identity'
}

/** Accepts `br` and `br;q=0.5`, but not `br;q=0` (RFC 9110, 12.5.3). */
function accepts(offer: string, encoding: Encoding): boolean {
  const [name, weight = 'q=1'] = offer.split(';').map((part) => part.trim())
  return name === encoding && !/^q=0(\.0*)?$/.test(weight)
}

function encode(asset: Asset, encoding: Encoding): Promise<Buffer> {
  const known = asset.encoded.get(encoding)
  if (known) return known
  const started = encoding === 'identity' ? promisify(brotliDecompress)(asset.stored) : compress(asset, encoding)
  asset.encoded.set(encoding, started)
  return started
}

async function compress(asset: Asset, encoding: keyof typeof compressors): Promise<Buffer> {
  return compressors[encoding](await encode(asset, 'identity'))
}
