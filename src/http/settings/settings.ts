import type { FastifyInstance } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { settingsContracts } from '../../../contracts/settings/index.ts'
import type { Deps } from '../../deps.ts'
import type { OwnerAuthOptions } from '../../owner/auth-options.ts'
import { createOwnerAuth } from '../../owner/owner-auth.ts'
import type { SignInOutcome } from '../../owner/sign-in-record.ts'
import type { ReadLimit } from '../read-limit.ts'
import { registerSettingsAuth } from './auth.ts'
import { limitSettingsReads, pairSettings } from './procedures.ts'
import { registerSettingsTrpc } from './trpc.ts'
import { settingsVerbs } from './verbs/settings-verbs.ts'

/** What the dashboard calls: its procedures, and how its people sign in. */
export async function registerSettings(
  app: FastifyInstance,
  deps: Deps,
  reads: ReadLimit,
  options: OwnerAuthOptions,
  registry: Registry,
): Promise<void> {
  const ownerAuth = createOwnerAuth(deps, { ...options, onSignIn: countSignIns(registry) })
  const door = { ownerAuth, oidc: options.oidc }
  // In a context of their own: the hook is for these routes, and costs a send nothing.
  await app.register(async (settings) => {
    settings.addHook('onRequest', (_request, reply, done) => {
      // What a person sees of their account is nobody else's, and no cache's.
      void reply.header('Cache-Control', 'no-store')
      done()
    })
    await registerSettingsAuth(settings, deps, ownerAuth, options)
    await registerSettingsTrpc(
      settings,
      deps,
      door,
      limitSettingsReads(pairSettings(settingsContracts, settingsVerbs), reads),
    )
  })
}

function countSignIns(registry: Registry): (outcome: SignInOutcome) => void {
  const signIns = new Counter({
    name: 'waybill_sign_ins_total',
    help: 'Attempts to sign in to the dashboard by how they ended; locked counts each lock once.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => signIns.inc({ outcome })
}
