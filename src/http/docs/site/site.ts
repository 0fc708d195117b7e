import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { restContracts } from '../../../../contracts/index.ts'
import { listProcedures } from '../../../../contracts/procedure.ts'
import { codeOf } from '../../../platform/error-code.ts'
import { type Asset, createAsset, sendAsset, serveAsset } from '../asset.ts'
import { contents, referenceSlug } from './contents.ts'
import { layOutMissing, layOutPage } from './layout.ts'
import { markdownUrlOf, type Page, type SearchEntry, urlOf } from './page.ts'

/** The rendered guides: every file by its URL. */
interface Site {
  files: ReadonlyMap<string, SiteFile>
  /** HTML for a URL without a page. */
  missing: string
}

interface SiteFile {
  contentType: string
  content: string
}

/** Written by the build. A clone of the repository renders its Markdown instead. */
export const renderedPagesFile = new URL('pages.json', import.meta.url)

/** Undefined if neither rendered pages nor the renderer are installed. */
export async function loadSite(): Promise<Site | undefined> {
  const pages = await loadPages()
  return pages && buildSite(pages)
}

async function loadPages(): Promise<Page[] | undefined> {
  // Only the build writes this file.
  if (existsSync(renderedPagesFile)) return JSON.parse(readFileSync(renderedPagesFile, 'utf8')) as Page[]
  try {
    const { renderPages } = await import('../render/pages.ts')
    return renderPages()
  } catch (error) {
    if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

function buildSite(pages: readonly Page[]): Site {
  const titles = new Map([...pages.map(({ slug, title }) => [slug, title] as const), [referenceSlug, 'API reference']])
  const files = new Map<string, SiteFile>()
  for (const page of pages) {
    files.set(urlOf(page.slug), { contentType: 'text/html; charset=utf-8', content: layOutPage(page, titles) })
    files.set(markdownUrlOf(page.slug), { contentType: 'text/markdown; charset=utf-8', content: page.markdown })
  }
  const index = JSON.stringify(listSearchEntries(pages))
  files.set('/docs/search.json', { contentType: 'application/json; charset=utf-8', content: index })
  files.set('/llms.txt', { contentType: 'text/plain; charset=utf-8', content: writeLlmsTxt(titles) })
  return { files, missing: layOutMissing(titles) }
}

/** One entry per section, and one per operation of the reference. */
function listSearchEntries(pages: readonly Page[]): SearchEntry[] {
  const keywords = new Map(contents.flatMap((group) => group.pages).map((entry) => [entry.slug, entry.keywords]))
  const sections = pages.flatMap((page) =>
    page.sections.map(({ id, title, text }) => ({
      url: `${urlOf(page.slug)}${id === '' ? '' : `#${id}`}`,
      page: page.title,
      title,
      text,
      ...(id === '' && keywords.get(page.slug) !== undefined && { keywords: keywords.get(page.slug) }),
    })),
  )
  const operations = listProcedures(restContracts).map(({ contract }) => ({
    url: `${urlOf(referenceSlug)}#tag/${contract.tag.toLowerCase()}/${contract.method}${contract.path}`,
    page: 'API reference',
    title: `${contract.method} ${contract.path}`,
    text: contract.summary,
  }))
  return [...sections, ...operations]
}

/** An index for language models (llmstxt.org). */
function writeLlmsTxt(titles: ReadonlyMap<string, string>): string {
  const groups = contents.map(({ title, pages }) => {
    const links = pages.map(({ slug, summary }) => {
      const url = slug === referenceSlug ? '/openapi.json' : markdownUrlOf(slug)
      return `- [${titles.get(slug) ?? slug}](${url}): ${summary}`
    })
    return `## ${title}\n\n${links.join('\n')}`
  })
  return `# Waybill\n\n> Self-hosted service that sends pre-approved WhatsApp template messages over one HTTP call and reports delivery, reads and failures by signed webhook.\n\nEach error code has a page at /docs/errors/CODE.md. The examples use http://127.0.0.1:3000. If you read this file at another address, use that one.\n\n${groups.join('\n\n')}\n`
}

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

/** The address in the examples. In a browser, a script replaces it. */
const exampleUrl = 'http://127.0.0.1:3000'

/**
 * Serves the guides and error pages below `/docs`, their Markdown, and `/llms.txt`. Renders them at the first request.
 * Examples in the plain texts have the address of this server.
 */
export function registerGuides(app: FastifyInstance, address: string = exampleUrl): void {
  const assets = new Map<string, Asset>()
  const assetOf = (path: string, { content, contentType }: SiteFile): Asset => {
    const known = assets.get(path)
    if (known) return known
    const asset = createAsset(Buffer.from(isPlain(contentType) ? content.replaceAll(exampleUrl, address) : content))
    assets.set(path, asset)
    return asset
  }
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
    return sendFile(request, reply, file, assetOf(path, file))
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

function isPlain(contentType: string): boolean {
  return contentType.startsWith('text/markdown') || contentType.startsWith('text/plain')
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
