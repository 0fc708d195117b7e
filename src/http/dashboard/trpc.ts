import type { FastifyInstance } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { dashboardContracts } from '../../../contracts/dashboard/index.ts'
import type { SessionProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { audited } from '../../users/audit/audit.ts'
import { createUserAuth } from '../../users/sign-in/better-auth.ts'
import type { UserAuthOptions } from '../../users/sign-in/options.ts'
import type { SignInOutcome } from '../../users/sign-in/record.ts'
import { createSessionTracker } from '../../users/sign-in/sessions.ts'
import { limitProcedures, pairProcedures, type ServedProcedure } from '../api/procedures.ts'
import { registerTrpc } from '../api/trpc.ts'
import type { LimitCalls } from '../limits/whatsapp-calls.ts'
import type { ReadLimit } from '../limits/read-limit.ts'
import { createAside } from './aside.ts'
import { registerDashboardAuth } from './auth.ts'
import { authorizeUser, type DashboardCall } from './authorize.ts'
import { dashboardHandlers } from './handlers.ts'
import { registerSampleUpload } from './sample-upload.ts'

export const dashboardTrpcPath = '/settings/trpc'

/** What the dashboard calls: its procedures, and how its people sign in. */
export async function registerDashboard(
  app: FastifyInstance,
  deps: Deps,
  { reads, limitCalls }: { reads: ReadLimit; limitCalls: LimitCalls },
  options: UserAuthOptions,
  registry: Registry,
): Promise<void> {
  const userAuth = createUserAuth(deps, { ...options, onSignIn: countSignIns(registry) })
  // Sign-in links exist in the sandbox only.
  const authServices = {
    userAuth,
    oidc: options.oidc,
    sandbox: options.signInLinks,
    sawSession: createSessionTracker(deps),
    aside: createAside(deps.log, 20),
  }
  // In a context of their own: the hook is for these routes, and costs a send nothing.
  await app.register(async (settings) => {
    settings.addHook('onRequest', (_request, reply, done) => {
      // What a person sees of their account is nobody else's, and no cache's.
      void reply.header('Cache-Control', 'no-store')
      done()
    })
    await registerDashboardAuth(settings, deps, userAuth, options)
    const procedures = pairProcedures<SessionProcedure, DashboardCall>(dashboardContracts, dashboardHandlers)
    await registerTrpc<SessionProcedure, DashboardCall>(settings, deps, {
      prefix: dashboardTrpcPath,
      procedures: limitProcedures(procedures, reads)
        .map((procedure) => auditProcedure(procedure))
        .map((procedure) => limitCalls(procedure)),
      authorize: (contract, { request }, readInput) => authorizeUser(deps, authServices, contract, request, readInput),
      maxBatchSize: 1,
      showFields: true,
      publicUrl: undefined,
    })
    await registerSampleUpload(settings, deps, authServices, (procedure) => limitCalls(auditProcedure(procedure)))
  })
}

/** Records a change in the audit log. What the contract does not name does not leave. */
function auditProcedure<P extends SessionProcedure, Call extends DashboardCall>({
  name,
  contract,
  perform,
}: ServedProcedure<P, Call>): ServedProcedure<P, Call> {
  const performAudited: typeof perform = async (deps, call, input) => {
    const change = () => perform(deps, call, input)
    const what = contract.audit?.(input)
    if (what === undefined) return contract.output.parse(await change())
    const { accountId, address } = call
    if (accountId === undefined) throw new Error(`${name} names no account in whose audit log it could be recorded`)
    return contract.output.parse(await audited(deps, { accountId, who: call.person().email, what, address }, change))
  }
  return { name, contract, perform: performAudited }
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
