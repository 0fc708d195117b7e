import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { dashboardContracts } from '../../../contracts/dashboard/index.ts'
import type { SessionProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import type { WorkLimiter } from '../../pipeline/work-limiter.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import { pairProcedures } from '../../pipeline/procedures.ts'
import { createUserAuth } from '../../users/sign-in/better-auth.ts'
import type { UserAuthOptions } from '../../users/sign-in/options.ts'
import type { SignInOutcome } from '../../users/sign-in/guard.ts'
import { createSessionTracker } from '../../users/sign-in/sessions.ts'
import { sizeOf } from '../api/rest.ts'
import { registerTrpc } from '../api/trpc.ts'
import { authorizeUser, chargeNetwork, createBackgroundRunner, type DashboardCall } from './authorize.ts'
import { registerDashboardAuth } from './auth.ts'
import { dashboardHandlers } from './handlers.ts'
import { registerUploads } from './uploads.ts'

export const dashboardTrpcPath = '/settings/trpc'

/** Registers the routes that the dashboard calls: its procedures and sign-in. */
export async function registerDashboard(
  app: FastifyInstance,
  deps: Deps,
  pipeline: Pipeline,
  options: UserAuthOptions,
  registry: Registry,
): Promise<void> {
  const userAuth = createUserAuth(deps, { ...options, onSignIn: countSignIns(registry) })
  // Sign-in links exist in the sandbox only.
  const authServices = {
    userAuth,
    oidc: options.oidc,
    sandbox: options.signInLinks,
    recordSessionUse: createSessionTracker(deps),
    runInBackground: createBackgroundRunner(deps.log, 20),
  }
  await registerDashboardAuth(app, deps, { userAuth, workLimiter: pipeline.workLimiter }, options)
  await registerTrpc<SessionProcedure, DashboardCall>(app, deps, {
    prefix: dashboardTrpcPath,
    procedures: pairProcedures<SessionProcedure, DashboardCall>(dashboardContracts, dashboardHandlers),
    pipeline,
    authorize: (contract, { request }, readInput) =>
      authorizeUser(deps, authServices, contract, request, () => limitInput(pipeline.workLimiter, request, readInput)),
    maxBatchSize: 1,
    showFields: true,
    publicUrl: undefined,
  })
  await registerUploads(app, deps, authServices, pipeline)
}

/** The input names the account that the caller must belong to, so it is decoded before the account is known. */
async function limitInput(
  limiter: WorkLimiter,
  request: FastifyRequest,
  readInput: () => Promise<unknown>,
): Promise<unknown> {
  const network = await chargeNetwork(limiter, request)
  return limiter.measure(network, sizeOf(request), readInput)
}

function countSignIns(registry: Registry): (outcome: SignInOutcome) => void {
  const signIns = new Counter({
    name: 'waybill_sign_ins_total',
    help: 'Attempts to sign in to the dashboard, by outcome; locked counts each lock once.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => signIns.inc({ outcome })
}
