import type { FastifyInstance } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { settingsContracts } from '../../../contracts/dashboard/index.ts'
import {
  isSettingsContract,
  type SettingsContract,
  type SettingsContractTree,
} from '../../../contracts/dashboard/procedure.ts'
import type { Deps } from '../../deps.ts'
import { createOwnerAuth } from '../../users/sign-in/better-auth.ts'
import type { OwnerAuthOptions } from '../../users/sign-in/options.ts'
import type { SignInOutcome } from '../../users/sign-in/record.ts'
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
      limitSettingsReads(pairSettings(settingsContracts, settingsHandlers), reads),
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

/** A contract of the dashboard and the handler behind it. The contract's own schema has parsed the input. */
export interface SettingsProcedure {
  /** Dotted name, such as `settings.publicApi.get`. */
  name: string
  contract: SettingsContract
  perform: (deps: Deps, call: SettingsCall, input: never) => Promise<unknown>
}

type HandlerTree = { [name: string]: SettingsProcedure['perform'] | HandlerTree }

/** Pairs each contract of a tree with its handler; `HandlersOf` has made sure that both have one shape. */
export function pairSettings(contracts: SettingsContractTree, handlers: HandlerTree, prefix = ''): SettingsProcedure[] {
  return Object.entries(contracts).flatMap(([key, node]) => {
    const handler = handlers[key]
    if (isSettingsContract(node))
      return typeof handler === 'function' ? [{ name: prefix + key, contract: node, perform: handler }] : []
    return typeof handler === 'object' ? pairSettings(node, handler, `${prefix}${key}.`) : []
  })
}

/** What the dashboard reads of an account counts with what the holder of its API key reads. */
export function limitSettingsReads(procedures: SettingsProcedure[], reads: ReadLimit): SettingsProcedure[] {
  return procedures.map((procedure) => {
    const { contract, perform } = procedure
    if (contract.kind !== 'query') return procedure
    return {
      ...procedure,
      perform: (deps, call, input: { accountId?: string }) => {
        const read = () => perform(deps, call, input as never)
        return input.accountId === undefined ? read() : reads.run(input.accountId, read)
      },
    }
  })
}
