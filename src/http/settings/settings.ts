import type { FastifyInstance } from 'fastify'
import { settingsContracts } from '../../../contracts/settings/index.ts'
import type { Deps } from '../../deps.ts'
import type { OwnerAuthOptions } from '../../owner/auth-options.ts'
import { createOwnerAuth } from '../../owner/owner-auth.ts'
import { registerSettingsAuth } from './auth.ts'
import { isDashboardBuilt, registerPages } from './pages.ts'
import { pairSettings } from './procedures.ts'
import { registerSettingsTrpc } from './trpc.ts'
import { settingsVerbs } from './verbs/settings-verbs.ts'

/** Everything below `/settings`: the dashboard's pages, its procedures, and how its people sign in. */
export async function registerSettings(app: FastifyInstance, deps: Deps, options: OwnerAuthOptions): Promise<void> {
  // What a person sees of their account is nobody else's, and no cache's; built files say otherwise of themselves.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.url.startsWith('/settings/')) void reply.header('Cache-Control', 'no-store')
    done()
  })
  const ownerAuth = createOwnerAuth(deps, options)
  await registerSettingsAuth(app, ownerAuth, options)
  await registerSettingsTrpc(
    app,
    deps,
    { ownerAuth, oidc: options.oidc },
    pairSettings(settingsContracts, settingsVerbs),
  )
  if (isDashboardBuilt()) registerPages(app)
  else deps.log.warn('the dashboard is not built, and so not served; build it with: npm run dashboard')
}
