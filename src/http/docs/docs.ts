import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { writeTemplateFileSchema } from '../../../contracts/templates/file.ts'
import type { OpenApiDocument } from '../openapi/document.ts'
import { contentSecurityPolicy, serveAsset } from './asset.ts'
import { registerGuides } from './site/site.ts'
import { layOutReference } from './site/layout.ts'

const html = 'text/html; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

const openApi = local('../../../openapi.json')

/** Scalar's four megabytes only change with a release, so they are cached for a day. */
const aDay = { 'Cache-Control': 'public, max-age=86400' }

interface DocsOptions {
  scalarFiles?: string[]
  isSimulated?: boolean
  /** The URL of this server. */
  address?: string
}

/**
 * Serves the OpenAPI documents, the guides at `/docs` and Scalar's API reference at `/docs/api`, without any third-party
 * request. If Scalar's file is not installed, the page of the reference says so.
 */
export function registerDocs(
  app: FastifyInstance,
  { scalarFiles = listScalarFiles(), isSimulated = false, address }: DocsOptions = {},
): void {
  const scalarFile = scalarFiles.find((file) => existsSync(file))
  serveAsset(app, '/openapi.json', {
    file: openApi,
    contentType: 'application/json; charset=utf-8',
  })
  serveAsset(app, '/openapi.yaml', { content: () => writeForm('openapi.yaml'), contentType: 'application/yaml' })
  serveAsset(app, '/openapi-3.0.json', {
    content: () => writeForm('openapi-3.0.json'),
    contentType: 'application/json; charset=utf-8',
  })
  serveAsset(app, '/docs/monitoring/grafana-dashboard.json', {
    file: local('monitoring/grafana-dashboard.json'),
    contentType: 'application/json; charset=utf-8',
  })
  serveAsset(app, '/docs/monitoring/prometheus-rules.yml', {
    file: local('monitoring/prometheus-rules.yml'),
    contentType: 'application/yaml',
  })
  serveAsset(app, '/docs/template.schema.json', {
    content: writeTemplateFileSchema(),
    contentType: 'application/schema+json; charset=utf-8',
  })
  registerGuides(app, address)
  serveAsset(app, '/docs/api', {
    ...(scalarFile === undefined ? { file: local('missing.html') } : { content: layOutReference({ isSimulated }) }),
    contentType: html,
    headers: { 'Content-Security-Policy': contentSecurityPolicy({ forms: 'none' }) },
  })
  if (scalarFile === undefined) return
  serveAsset(app, '/docs/setup.js', { file: local('browser/setup.js'), contentType: javascript })
  serveAsset(app, '/docs/scalar.js', { file: scalarFile, contentType: javascript, headers: aDay })
}

async function writeForm(name: 'openapi.yaml' | 'openapi-3.0.json'): Promise<string> {
  const { openApiForms } = await import('../openapi/openapi30.ts')
  return openApiForms[name](JSON.parse(await readFile(openApi, 'utf8')) as OpenApiDocument)
}

/**
 * Possible paths of Scalar's standalone file: beside the page in a build, which does not include its 400 packages, or
 * in the development dependency.
 */
function listScalarFiles(): string[] {
  const built = fileURLToPath(local('scalar.js'))
  try {
    const entry = createRequire(import.meta.url).resolve('@scalar/api-reference')
    return [built, path.join(path.dirname(entry), 'browser', 'standalone.js')]
  } catch {
    return [built]
  }
}

function local(file: string): URL {
  return new URL(file, import.meta.url)
}

/** Redirects `/` to the dashboard. If the dashboard is not built, it serves a page with links instead. */
export function registerHome(app: FastifyInstance, { dashboard }: { dashboard: boolean }): void {
  if (dashboard) {
    app.get('/', (_request, reply) => reply.redirect('/settings/'))
    return
  }
  serveAsset(app, '/', {
    file: new URL('home/page.html', import.meta.url),
    contentType: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy':
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    },
  })
  serveAsset(app, '/home.css', {
    file: new URL('home/style.css', import.meta.url),
    contentType: 'text/css; charset=utf-8',
  })
}
