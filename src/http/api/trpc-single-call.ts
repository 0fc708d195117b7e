import {
  type AnyTRPCRouter,
  callTRPCProcedure,
  getTRPCErrorFromUnknown,
  getTRPCErrorShape,
  transformTRPCResponse,
  TRPCError,
} from '@trpc/server'
import { getHTTPStatusCode } from '@trpc/server/http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A mutation by POST or a query by GET, alone in its request. Nearly every call is one. */
interface SingleCall {
  path: string
  type: Kind
  /** Unparsed JSON; empty if the call has no input. */
  inputText: string
}

type Kind = 'mutation' | 'query'

const methods = { mutation: 'POST', query: 'GET' } as const satisfies Record<Kind, string>

export interface SingleCallOptions {
  router: AnyTRPCRouter
  procedures: readonly { name: string; contract: { kind: Kind } }[]
  createContext: (request: FastifyRequest, reply: FastifyReply) => unknown
}

/**
 * Handles single calls in place of tRPC's own adapter, with tRPC's router and response format. The adapter creates a
 * `Request`, a `Response` and abort signals for each call, which takes 40 µs; the call itself takes 28. Everything else
 * goes to the adapter: batches, streams, wrong methods and bodies that are not JSON.
 */
export function serveSingleCalls(app: FastifyInstance, options: SingleCallOptions): void {
  const kinds = new Map(options.procedures.map(({ name, contract }) => [name, contract.kind]))
  app.addHook('preHandler', (request, reply, done) => {
    const call = readSingleCall(request, kinds)
    if (call) respond(call, options, request, reply).catch((error: unknown) => reply.send(error))
    else done()
  })
}

function readSingleCall(request: FastifyRequest, kinds: ReadonlyMap<string, Kind>): SingleCall | undefined {
  const { path } = request.params as { path: string }
  const type = kinds.get(path)
  if (type === undefined || request.method !== methods[type] || acceptsStream(request)) return undefined
  const inputText = type === 'mutation' ? readBody(request) : readQuery(request)
  return inputText === undefined ? undefined : { path, type, inputText }
}

function acceptsStream({ headers }: FastifyRequest): boolean {
  return headers['trpc-accept'] !== undefined || headers.accept?.includes('jsonl') === true
}

function readBody({ url, headers, body }: FastifyRequest): string | undefined {
  const isPlain = headers['content-type'] === 'application/json' && !url.includes('?')
  return isPlain && typeof body === 'string' ? body : undefined
}

/** The input as `encodeURIComponent` encodes it. */
const onlyInput = /^[^?#]*\?input=([\w.!~*'()%-]*)$/

function readQuery({ url, headers }: FastifyRequest): string | undefined {
  if (headers['content-type'] !== undefined && headers['content-type'] !== 'application/json') return undefined
  if (!url.includes('?')) return ''
  const encoded = onlyInput.exec(url)?.[1]
  try {
    return encoded && decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

async function respond(
  { path, type, inputText }: SingleCall,
  { router, createContext }: SingleCallOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const ctx = createContext(request, reply)
  const config = router._def._config
  // Not kept: a call may wait before it is handled, and parsed JSON takes up to 20 times its bytes.
  const getRawInput = async () => parseInput(inputText, config.transformer.input)
  const body = await callTRPCProcedure({ router, path, type, ctx, getRawInput, signal: undefined, batchIndex: 0 }).then(
    (data) => ({ result: { data } }),
    (thrown: unknown) => ({
      error: getTRPCErrorShape({ config, error: getTRPCErrorFromUnknown(thrown), type, path, input: undefined, ctx }),
    }),
  )
  reply
    .code(getHTTPStatusCode(body))
    .header('vary', 'trpc-accept, accept')
    .header('content-type', 'application/json')
    // Unlike Fastify's default, a custom serializer adds no charset to the content type; tRPC sends none.
    .serializer(JSON.stringify)
    .send(transformTRPCResponse(config, body))
}

function parseInput(text: string, transformer: { deserialize(value: unknown): unknown }): unknown {
  if (text === '') return undefined
  try {
    return transformer.deserialize(JSON.parse(text))
  } catch (cause) {
    throw new TRPCError({
      code: 'BAD_REQUEST',
      message: cause instanceof Error ? cause.message : 'Invalid input',
      cause,
    })
  }
}
