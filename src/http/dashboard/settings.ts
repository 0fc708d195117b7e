import type { FastifyInstance } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { settingsContracts } from '../../../contracts/dashboard/index.ts'
import type { DashboardProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { createOwnerAuth } from '../../users/sign-in/better-auth.ts'
import type { OwnerAuthOptions } from '../../users/sign-in/options.ts'
import type { SignInOutcome } from '../../users/sign-in/record.ts'
import { limitProcedures, pairProcedures } from '../api/procedures.ts'
import type { ReadLimit } from '../limits/read-limit.ts'
import { registerSettingsAuth } from './auth.ts'
import type { SettingsCall } from './call.ts'
import { settingsHandlers } from './handlers.ts'
import { registerSettingsTrpc } from './trpc.ts'

/** What the dashboard calls: its procedures, and how its people sign in. */
export async function registerSettings(
  app: FastifyInstance,
  deps: Deps,
  reads: ReadLimit,
  options: OwnerAuthOptions,
  registry: Registry,
): Promise<void> {
  const ownerAuth = createOwnerAuth(deps, { ...options, onSignIn: countSignIns(registry) })
  const authServices = { ownerAuth, oidc: options.oidc }
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
      authServices,
      limitProcedures(pairProcedures<DashboardProcedure, SettingsCall>(settingsContracts, settingsHandlers), reads),
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
