import { initTRPC, TRPCError, type TRPCErrorShape } from '@trpc/server'
import { type CreateFastifyContextOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorData, ServiceError } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import type { AppRouter } from '../../client/client.ts'
import type { Deps } from '../../deps.ts'
import { admit, type ApiCall, type Exchange } from './authorize.ts'
import { failureHeaders, statusOf, toServiceError, trpcCodes } from './errors.ts'
import { parseInput } from './input.ts'
import { placeProcedure, type ProcedureRecord, type ServedProcedure } from './procedures.ts'
import { exchangeOf } from './rest.ts'
import { serveSingleCalls } from './trpc-single-call.ts'

const maxBatchSize = 10

interface Context {
  exchange: Exchange
  requestId: string
}

/** Serves the same procedures over tRPC at `/trpc`: the data comes bare, an error carries our code. */
export async function registerTrpc(
  app: FastifyInstance,
  deps: Deps,
  procedures: ServedProcedure<ApiProcedure, ApiCall>[],
): Promise<void> {
  const router = buildRouter(deps, procedures)
  await app.register(async (trpc) => {
    serveSingleCalls(trpc, { router, procedures, createContext })
    await trpc.register(fastifyTRPCPlugin, {
      prefix: '/trpc',
      trpcOptions: {
        router,
        // One request is one place at work, whatever it holds.
        maxBatchSize,
        createContext: ({ req, res }: CreateFastifyContextOptions) => createContext(req, res),
      },
    })
  })
}

/** What fails in here arrives as a 500, so it does nothing that can fail. */
function createContext(request: FastifyRequest, reply: FastifyReply): Context {
  return { exchange: exchangeOf(request, reply), requestId: request.id }
}

export function buildRouter(deps: Deps, procedures: ServedProcedure<ApiProcedure, ApiCall>[]): AppRouter {
  const t = initTRPC.context<Context>().create({
    // Development mode would send stack traces.
    isDev: false,
    errorFormatter: ({ error, shape, ctx }) =>
      toShape(fromTrpcError(error, deps, ctx?.requestId ?? 'unknown'), shape.code),
  })
  const build = ({ contract, perform }: ServedProcedure<ApiProcedure, ApiCall>) => {
    const admitted = t.procedure.use(async ({ ctx, next }) => {
      const call = await admit(deps, contract, ctx.exchange).catch((error: unknown) =>
        Promise.reject(toTrpcError(error, deps, ctx)),
      )
      return next({ ctx: { call } })
    })
    const parsed = admitted.input((raw) => parseInput(contract.input, raw ?? {}))
    const resolve = ({ ctx, input }: { ctx: Context & { call: ApiCall }; input: unknown }) =>
      // The contract's own schema has just parsed this input for this handler.
      perform(deps, ctx.call, input as never).catch((error: unknown) => Promise.reject(toTrpcError(error, deps, ctx)))
    return contract.kind === 'query' ? parsed.query(resolve) : parsed.mutation(resolve)
  }
  const record: ProcedureRecord<ReturnType<typeof build>> = {}
  for (const procedure of procedures) placeProcedure(record, procedure.name.split('.'), build(procedure))
  // The router is made from the contracts at run time; its type is made from the same contracts.
  return t.router(record) as unknown as AppRouter
}

function toTrpcError(thrown: unknown, deps: Deps, { exchange, requestId }: Context): TRPCError {
  const error = toServiceError(thrown, { requestId, log: deps.log })
  for (const [name, value] of Object.entries(failureHeaders(error))) exchange.setHeader(name, value)
  return new TRPCError({ code: trpcCodes[statusOf(error)], message: error.message, cause: error })
}

/** What tRPC itself refuses, in our words. */
export function fromTrpcError(error: TRPCError, deps: Pick<Deps, 'log'>, requestId: string): ServiceError {
  if (error.cause instanceof ServiceError) return error.cause
  switch (error.code) {
    case 'NOT_FOUND':
      return new ServiceError('NOT_FOUND', 'There is no such procedure.')
    case 'METHOD_NOT_SUPPORTED':
      return new ServiceError('METHOD_NOT_ALLOWED', 'Call queries with GET and mutations with POST.')
    case 'PAYLOAD_TOO_LARGE':
      return new ServiceError('PAYLOAD_TOO_LARGE', 'The request body is larger than 64 KiB.')
    case 'UNSUPPORTED_MEDIA_TYPE':
      return new ServiceError(
        'UNSUPPORTED_MEDIA_TYPE',
        'The request body must be JSON: send the header Content-Type: application/json.',
      )
    case 'PARSE_ERROR':
    case 'BAD_REQUEST':
      return new ServiceError('VALIDATION_ERROR', 'The request is not a tRPC request: its input is not valid JSON.')
    default:
      return toServiceError(error.cause ?? error, { requestId, log: deps.log })
  }
}

/** What fails before tRPC sees the request, such as a body that is too large, in the shape its clients read. */
export function toTrpcFailureBody(error: ServiceError): { error: TRPCErrorShape<ErrorData> } {
  return { error: toShape(error, TRPC_ERROR_CODES_BY_KEY[trpcCodes[statusOf(error)]]) }
}

function toShape(error: ServiceError, code: TRPCErrorShape['code']): TRPCErrorShape<ErrorData> {
  return {
    code,
    message: error.message,
    data: {
      code: error.code,
      httpStatus: statusOf(error),
      ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
    },
  }
}
