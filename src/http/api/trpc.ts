import { initTRPC, TRPCError, type TRPCErrorShape } from '@trpc/server'
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { withFacts } from '../../../contracts/facts/fact.ts'
import { type DashboardErrorData, type ErrorData, ServiceError } from '../../../contracts/errors.ts'
import type { Procedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { costOf, type Pipeline } from '../../pipeline/pipeline.ts'
import type { ProcedureCall, ServedProcedure } from '../../pipeline/procedures.ts'
import { failureHeaders, statusOf, toServiceError, trpcCodes } from './errors.ts'
import { decodeJsonBody, parseInput } from './input.ts'
import { sizeOf } from './rest.ts'
import { recordFailure, traceOf } from './request-log.ts'
import { serveSingleCalls } from './trpc-single-call.ts'

interface Context {
  request: FastifyRequest
  reply: FastifyReply
}

/** How the routers of the two audiences differ. */
export interface TrpcOptions<P extends Procedure, Call extends ProcedureCall> {
  prefix: string
  procedures: ServedProcedure<P, Call>[]
  pipeline: Pipeline
  /** Runs before the input is validated, so that an unauthorized caller learns nothing from validation errors. */
  authorize: (contract: P, context: Context, readInput: () => Promise<unknown>) => Promise<Call>
  /** A batch counts as one concurrent request, however many calls it has. */
  maxBatchSize: number
  /** Includes the problem of each field in validation errors, for a form. */
  showFields: boolean
  /** Makes the links of errors absolute. */
  publicUrl: string | undefined
}

/** Serves procedures over tRPC: the data has no envelope, and an error carries our code. */
export async function registerTrpc<P extends Procedure, Call extends ProcedureCall>(
  app: FastifyInstance,
  deps: Deps,
  options: TrpcOptions<P, Call>,
): Promise<void> {
  const { prefix, procedures, maxBatchSize } = options
  const router = buildRouter(deps, options)
  await app.register((trpc, _options, done) => {
    trpc.removeAllContentTypeParsers()
    trpc.addContentTypeParser('application/json', (request: FastifyRequest, payload: FastifyRequest['raw'], done) =>
      trpc.receiveBody(request, payload, (error, body) => (body ? decodeBody(request, body, done) : done(error))),
    )
    serveSingleCalls(trpc, { router, procedures, createContext })
    // Not tRPC's plugin, which replaces bytes that are not UTF-8 in bodies.
    trpc.all<{ Params: { path: string } }>(`${prefix}/:path`, (req, res) => {
      const { path } = req.params
      checkBatch(path, maxBatchSize)
      return fastifyRequestHandler({
        router,
        createContext: () => createContext(req, res),
        req,
        res: answersWhole(res),
        path,
        // Of calls whose commas are encoded twice, which the check above does not see.
        maxBatchSize,
      })
    })
    done()
  })
}

/**
 * The adapter answers with a stream, and if the client asks for one, before the calls have run: the request would free its
 * slot too early, and nothing would count the bytes that the client leaves unread. So the answer is sent once it is complete.
 */
function answersWhole(reply: FastifyReply): FastifyReply {
  const send = async (response: Response) => {
    const body = Buffer.from(await response.arrayBuffer())
    const { 'transfer-encoding': _encoding, ...headers } = Object.fromEntries(response.headers)
    // tRPC names no type for errors from before it knows the calls, and a `Response` takes them for plain text.
    if (headers['content-type']?.startsWith('text/plain') === true) headers['content-type'] = 'application/json'
    return reply.code(response.status).headers(headers).send(body)
  }
  return Object.create(reply, { send: { value: send } }) as FastifyReply
}

/** tRPC's own check fails with the same code as for invalid JSON, so its error would not say what is wrong. */
function checkBatch(path: string, maxBatchSize: number): void {
  const calls = path.split(',').length
  if (calls > maxBatchSize)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `This batch has ${calls} calls, and the maximum is ${maxBatchSize}. With httpBatchLink, set maxItems to ${maxBatchSize}.`,
    )
}

function decodeBody(
  { headers }: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, text?: string) => void,
): void {
  try {
    const { 'content-type': contentType, 'content-encoding': contentEncoding } = headers
    done(null, decodeJsonBody(body, { contentType, contentEncoding }))
  } catch (error) {
    done(error as ServiceError)
  }
}

/** Must not throw: tRPC reports any error here as a 500. */
function createContext(request: FastifyRequest, reply: FastifyReply): Context {
  return { request, reply }
}

function buildRouter<P extends Procedure, Call extends ProcedureCall>(
  deps: Deps,
  { procedures, pipeline, authorize, showFields, publicUrl }: TrpcOptions<P, Call>,
) {
  const t = initTRPC.context<Context>().create({
    // Development mode would send stack traces.
    isDev: false,
    errorFormatter: ({ error: thrown, shape, ctx }): TRPCErrorShape<DashboardErrorData> => {
      const error = fromTrpcError(thrown, deps, ctx?.request.id ?? 'unknown')
      if (ctx) recordFailure(ctx.request, error)
      const { data, ...described } = toShape(error, shape.code)
      return { ...described, data: showFields ? { ...data, ...describeForUsers(error) } : data }
    },
  })
  const { workLimiter } = pipeline
  const works = new Map(procedures.map(({ name, contract }) => [name, costOf(contract, 0).work]))
  const build = (procedure: ServedProcedure<P, Call>) => {
    const { contract } = procedure
    // Not tRPC's own `input`, which would parse before the call is limited.
    const resolve = t.procedure.use(async ({ ctx, getRawInput, next }) => {
      const call = await authorize(contract, ctx, getRawInput).catch(reject(deps, ctx, publicUrl))
      return next({ ctx: { call, getRawInput } })
    })
    const run = ({ ctx }: { ctx: Context & { call: Call; getRawInput: () => Promise<unknown> } }) => {
      const { request, call, getRawInput } = ctx
      const bytes = sizeOf(request)
      const parse = async (): Promise<unknown> => {
        const raw = await getRawInput()
        return workLimiter.measure(call.workKey, bytes, () => parseInput(contract.input, raw ?? {}))
      }
      const received = { bytes, parse }
      const batch = enterBatch(pipeline, call, request, works)
      const result = batch
        ? batch.then((hasWaited) => pipeline.run(procedure, call, { ...received, charged: 'work', hasWaited }))
        : pipeline.run(procedure, call, received)
      return result.catch(reject(deps, ctx, publicUrl))
    }
    return contract.kind === 'query' ? resolve.query(run) : resolve.mutation(run)
  }
  const record: ProcedureRecord<ReturnType<typeof build>> = {}
  for (const procedure of procedures) placeProcedure(record, procedure.name.split('.'), build(procedure))
  return t.router(record)
}

/** What forms show beside their fields, and what the dashboard says in the language of the reader. */
export function describeForUsers({ code, fact, fields }: ServiceError): Partial<DashboardErrorData> {
  const said = fact && { fact }
  if (code !== 'VALIDATION_ERROR' && code !== 'RECIPIENT_SUPPRESSED') return { ...said }
  const { facts, ...english } = withFacts(fields)
  return { ...said, fields: english, ...(facts && { facts }) }
}

/** Procedures nested by their dotted names, as a router expects them. */
interface ProcedureRecord<T> {
  [name: string]: T | ProcedureRecord<T>
}

function placeProcedure<T extends object>(
  record: ProcedureRecord<T>,
  [name = '', ...rest]: string[],
  procedure: T,
): void {
  if (rest.length === 0) {
    record[name] = procedure
    return
  }
  const inner = (record[name] ??= {})
  // Contracts and their namespaces never share a name.
  placeProcedure(inner as ProcedureRecord<T>, rest, procedure)
}

/**
 * The first call of a batch enters for all of them, so that a batch waits or is rejected as a whole. Returns whether it had
 * to wait.
 */
function enterBatch(
  { workLimiter }: Pipeline,
  { workKey }: ProcedureCall,
  request: FastifyRequest,
  works: ReadonlyMap<string, number>,
): Promise<boolean> | undefined {
  const { path } = request.params as { path: string }
  if (!path.includes(',')) return undefined
  const trace = traceOf(request)
  return (trace.admission ??= (async () => {
    // As tRPC, which decodes the path once more than the route.
    const names = decodeURIComponent(path).split(',')
    const work = names.reduce((sum, name) => sum + (works.get(name) ?? 0), 0)
    const waiting = workLimiter.acquire(workKey, { bytes: sizeOf(request), work, counted: false })
    await waiting
    return waiting !== undefined
  })())
}

function reject(deps: Deps, context: Context, publicUrl: string | undefined) {
  return (thrown: unknown) => Promise.reject(toTrpcError(thrown, deps, context, publicUrl))
}

function toTrpcError(
  thrown: unknown,
  deps: Deps,
  { request, reply }: Context,
  publicUrl: string | undefined,
): TRPCError {
  // Thrown by tRPC itself, for example for input that is not valid JSON.
  if (thrown instanceof TRPCError) return thrown
  const error = toServiceError(thrown, { requestId: request.id, log: deps.log })
  void reply.headers(failureHeaders(error, publicUrl))
  return new TRPCError({ code: trpcCodes[statusOf(error)], message: error.message, cause: error })
}

/** Converts errors that tRPC itself raises to our codes and messages. */
function fromTrpcError(error: TRPCError, deps: Pick<Deps, 'log'>, requestId: string): ServiceError {
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

/** Formats errors from before tRPC sees the request, such as a body that is too large, as tRPC clients expect them. */
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
      ...error.details,
    },
  }
}
