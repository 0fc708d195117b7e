import { initTRPC, TRPCError } from '@trpc/server'
import { type CreateFastifyContextOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import type { FastifyInstance } from 'fastify'
import { CustomerId } from '../../../contracts/fields.ts'
import type { DashboardProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { audited } from '../../users/audit/audit.ts'
import { trpcCodes } from '../api/errors.ts'
import { parseInput } from '../api/input.ts'
import { placeProcedure, type ProcedureRecord, type ServedProcedure } from '../api/procedures.ts'
import { authorizeMember, type AuthServices, type SettingsCall, type SettingsRequest } from './call.ts'
import { describeFailure, type Failure } from './failure.ts'
import { toHeaders } from './pages.ts'

export const settingsPath = '/settings/trpc'

interface Context {
  request: SettingsRequest
  requestId: string
}

/** Serves the dashboard's procedures at `/settings/trpc`, to sessions instead of API keys. */
export async function registerSettingsTrpc(
  app: FastifyInstance,
  deps: Deps,
  authServices: AuthServices,
  procedures: ServedProcedure<DashboardProcedure, SettingsCall>[],
): Promise<void> {
  await app.register(fastifyTRPCPlugin, {
    prefix: settingsPath,
    trpcOptions: {
      router: buildSettingsRouter(deps, authServices, procedures),
      maxBatchSize: 1,
      // What fails in here arrives as a 500, so it does nothing that can fail.
      createContext: ({ req }: CreateFastifyContextOptions): Context => ({
        request: { headers: toHeaders(req), address: req.ip, slot: req.slot },
        requestId: req.id,
      }),
    },
  })
}

/** Carries what has been described, and logged, through tRPC. */
class Failed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'Failed'
    this.failure = failure
  }
}

function buildSettingsRouter(
  deps: Deps,
  authServices: AuthServices,
  procedures: ServedProcedure<DashboardProcedure, SettingsCall>[],
) {
  const t = initTRPC.context<Context>().create({
    // Development mode would send stack traces.
    isDev: false,
    errorFormatter: ({ error, shape, ctx }) => {
      const { message, ...data } =
        error.cause instanceof Failed ? error.cause.failure : describeFailure(error, deps, ctx?.requestId ?? 'unknown')
      return { code: shape.code, message, data }
    },
  })
  const build = ({ contract, perform }: ServedProcedure<DashboardProcedure, SettingsCall>) => {
    const open = t.procedure.input((raw: unknown) => raw ?? {})
    const resolve = async ({ ctx, input: raw }: { ctx: Context; input: unknown }) => {
      try {
        // The account that is named decides who may call: whoever may not learns nothing of the rest.
        const accountId = readAccountId(raw)
        const call = await authorizeMember(deps, authServices, contract, ctx.request, accountId)
        const input = parseInput(contract.input, raw)
        // The contract's own schema has just parsed this input for this handler.
        const change = () => perform(deps, call, input as never)
        const what = contract.audit?.(input as never)
        const result =
          what === undefined
            ? await change()
            : await audited(deps, { accountId, who: call.person().email, what, address: call.address }, change)
        // What the contract does not name does not leave.
        return contract.output.parse(result)
      } catch (thrown) {
        const failure = describeFailure(thrown, deps, ctx.requestId)
        throw new TRPCError({
          code: trpcCodes[failure.httpStatus],
          message: failure.message,
          cause: new Failed(failure),
        })
      }
    }
    return contract.kind === 'query' ? open.query(resolve) : open.mutation(resolve)
  }
  const record: ProcedureRecord<ReturnType<typeof build>> = {}
  for (const procedure of procedures) placeProcedure(record, procedure.name.split('.'), build(procedure))
  return t.router(record)
}

/** What cannot be an ID names no account: the database would stumble over a NUL. */
function readAccountId(raw: unknown): string {
  const named = typeof raw === 'object' && raw !== null && 'accountId' in raw ? raw.accountId : undefined
  return CustomerId.safeParse(named).data ?? ''
}
