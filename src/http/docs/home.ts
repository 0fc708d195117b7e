import type { FastifyInstance } from 'fastify'
import { serveAsset } from './asset.ts'

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
