import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Asset, createAsset, sendAsset, serveAsset } from '../asset.ts'
import { loadSite, type Site, type SiteFile } from './site.ts'

/** Everything must come from this server, and nothing is inline. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const images = new URL('../../../../docs/guides/images/', import.meta.url)

/** Serves the guides and error pages below `/docs`, their Markdown, and `/llms.txt`. Renders them at the first request. */
export function registerGuides(app: FastifyInstance): void {
  const assets = new Map<string, Asset>()
  let loading: Promise<Site | undefined> | undefined
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    loading ??= loadSite()
    // A failure is not cached, so that the next request tries again.
    const site = await loading.catch((error: unknown) => {
      loading = undefined
      throw error
    })
    const [path = ''] = request.url.split('?')
    if (site === undefined) return sendFallback(path, reply)
    if (path === '/docs/') return reply.redirect('/docs', 301)
    const file = site.files.get(path)
    if (file === undefined) return sendMissing(request, reply, site)
    return sendFile(request, reply, file, assetOf(assets, path, file))
  }
  app.get('/docs', serve)
  app.get('/docs/*', serve)
  app.get('/llms.txt', serve)
  const script = 'text/javascript; charset=utf-8'
  const style = 'text/css; charset=utf-8'
  serveAsset(app, '/docs/header.css', { file: local('header.css'), contentType: style })
  serveAsset(app, '/docs/site.css', { file: local('site.css'), contentType: style })
  serveAsset(app, '/docs/site.js', { file: local('site.js'), contentType: script })
  serveAsset(app, '/docs/theme.js', { file: local('theme.js'), contentType: script })
  for (const name of existsSync(images) ? readdirSync(images, { recursive: true, encoding: 'utf8' }) : []) {
    const contentType = imageTypes[path.extname(name)]
    const file = name.replaceAll(path.sep, '/')
    if (contentType !== undefined) serveAsset(app, `/docs/images/${file}`, { file: new URL(file, images), contentType })
  }
}

const imageTypes: Partial<Record<string, string>> = { '.png': 'image/png', '.webp': 'image/webp' }

function assetOf(assets: Map<string, Asset>, path: string, { content }: SiteFile): Asset {
  const known = assets.get(path)
  if (known) return known
  const asset = createAsset(Buffer.from(content))
  assets.set(path, asset)
  return asset
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { contentType }: SiteFile, asset: Asset) {
  void reply.headers({ 'Cache-Control': 'no-cache', 'Content-Type': contentType })
  if (contentType.startsWith('text/html')) void reply.header('Content-Security-Policy', contentSecurityPolicy)
  return sendAsset(request, reply, asset)
}

/** Responds with a page to browsers and with the JSON envelope to programs. */
function sendMissing(request: FastifyRequest, reply: FastifyReply, { missing }: Site) {
  if (request.headers.accept?.includes('text/html') !== true) return reply.callNotFound()
  return reply
    .code(404)
    .headers({ 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': contentSecurityPolicy })
    .send(missing)
}

/** For an installation without the renderer, such as a clone without development dependencies. It still has the reference. */
function sendFallback(path: string, reply: FastifyReply) {
  return path === '/docs' || path === '/docs/' ? reply.redirect('/docs/api') : reply.callNotFound()
}

/** Browser scripts have their own folder, because the build bundles the server's folder into one file. */
function local(file: string): URL {
  return new URL(`../browser/${file}`, import.meta.url)
}
