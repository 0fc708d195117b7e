import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import clientPackage from '../../client/package.json' with { type: 'json' }
import type { Logger } from '../../platform/log.ts'

const { name, version } = clientPackage
/** The client of this server, whatever its version. */
const latest = `/client/${name}.tgz`
const oneYear = 'public, max-age=31536000, immutable'

interface ClientPackage {
  archive: Buffer
  /** As lock files of npm contain it. */
  integrity: string
  /** The address of exactly this archive. */
  url: string
}

/**
 * Serves the TypeScript client that matches this server as an archive that npm installs, so that it needs no registry. A
 * package of the server contains the archive. In a clone, the first request builds it, which takes some seconds.
 */
export function registerClientPackage(app: FastifyInstance, log: Logger): void {
  let loading: Promise<ClientPackage | undefined> | undefined
  // A failure is kept: another attempt would fail too, and anybody can send the request.
  const load = () =>
    (loading ??= readArchive().then(describe, (error: unknown) => {
      log.error({ err: error }, 'could not build the client package; restart the server to try again')
      return undefined
    }))

  app.get(`/client/${name}.json`, async (_request, reply) => {
    const found = await load()
    if (!found) return rejectUnbuilt(reply)
    const { integrity, url } = found
    return reply.header('Cache-Control', 'no-cache').send({ name, version, integrity, url })
  })
  app.get(latest, async (request, reply) => sendArchive(request, reply, await load(), 'no-cache'))
  app.get<{ Params: { file: string } }>('/client/:file', async (request, reply) => {
    const found = await load()
    if (found && request.url !== found.url)
      return reply
        .code(404)
        .header('Cache-Control', 'no-cache')
        .type('text/plain')
        .send(`This server has another version of the client, ${found.url}. Install it from ${latest}.\n`)
    return sendArchive(request, reply, found, oneYear)
  })
}

function sendArchive(
  request: FastifyRequest,
  reply: FastifyReply,
  found: ClientPackage | undefined,
  caching: string,
): FastifyReply {
  if (!found) return rejectUnbuilt(reply)
  const { archive, integrity, url } = found
  const etag = `"${integrity}"`
  void reply.headers({ 'Cache-Control': caching, ETag: etag, Link: `<${url}>; rel="canonical"` })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  return reply.type('application/gzip').send(archive)
}

function rejectUnbuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type('text/plain')
    .send(
      'This server could not build the client package. Its log says why: run npm ci in the clone, then restart it.\n',
    )
}

function describe(archive: Buffer): ClientPackage {
  const hash = createHash('sha512').update(archive).digest()
  const url = `/client/${name}-${version}-${hash.toString('hex').slice(0, 12)}.tgz`
  return { archive, integrity: `sha512-${hash.toString('base64')}`, url }
}

async function readArchive(): Promise<Buffer> {
  const built = new URL(`${name}.tgz`, import.meta.url)
  if (existsSync(built)) return readFile(built)
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-client-'))
  try {
    const file = path.join(folder, `${name}.tgz`)
    const script = fileURLToPath(new URL('../../packaging/build-client.ts', import.meta.url))
    await promisify(execFile)(process.execPath, [script, '--pack', file])
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}
