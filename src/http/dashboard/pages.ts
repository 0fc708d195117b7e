import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { contentSecurityPolicy, serveAsset } from '../docs/asset.ts'

const contentTypes: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** Built files can be cached forever, because their names contain a hash of their content. */
const forever = { 'Cache-Control': 'public, max-age=31536000, immutable' }

/** The build stores files that it has compressed by Brotli with this suffix. */
export const compressedSuffix = '.br'

const builtDashboard = fileURLToPath(new URL('../../dashboard/built', import.meta.url))

export function isDashboardBuilt(): boolean {
  return existsSync(`${builtDashboard}/index.html`)
}

/** In a clone, a later build can replace the files while the server runs. The page would then load files that do not match. */
const canBeReplaced = import.meta.url.endsWith('.ts')

/**
 * Serves the dashboard below `/settings/`: one page for all paths, with client-side routing, as built when the server
 * started.
 */
export function registerPages(app: FastifyInstance, folder = builtDashboard): void {
  const page = {
    file: `${folder}/index.html`,
    contentType: 'text/html; charset=utf-8',
    eager: canBeReplaced,
    headers: { 'Content-Security-Policy': contentSecurityPolicy({ forms: 'self' }), 'Referrer-Policy': 'no-referrer' },
  } as const
  for (const stored of readdirSync(`${folder}/assets`)) {
    const name = path.basename(stored, compressedSuffix)
    const contentType = contentTypes[name.split('.').at(-1) ?? '']
    if (contentType === undefined) continue
    const file = `${folder}/assets/${stored}`
    const encoding = name === stored ? 'identity' : 'br'
    serveAsset(app, `/settings/assets/${name}`, { file, encoding, contentType, headers: forever, eager: canBeReplaced })
  }
  app.get('/settings/assets/*', (_request, reply) => reply.callNotFound())
  serveAsset(app, '/settings', page)
  serveAsset(app, '/settings/*', page)
}

/** Converts header fields to the Fetch API's `Headers`; repeated fields are joined (RFC 9110, 5.3). */
export function toHeaders({ headers }: FastifyRequest): Headers {
  const result = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) result.set(name, Array.isArray(value) ? value.join(', ') : value)
  return result
}
