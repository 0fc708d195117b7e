import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { invalidField } from '../../../contracts/errors.ts'
import { unwrapSchema } from '../../../contracts/fields.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import type { ServedProcedure } from '../../pipeline/procedures.ts'
import { type ApiCall, authorizeApiKey } from './authorize.ts'
import { parseInput, parseJsonBody } from './input.ts'

/** Serves each procedure at its contract's method and path, in the envelope `{ success, data | error }`. */
export async function registerRest(
  app: FastifyInstance,
  deps: Deps,
  pipeline: Pipeline,
  procedures: ServedProcedure<ApiProcedure, ApiCall>[],
): Promise<void> {
  await app.register((rest, _options, done) => {
    for (const procedure of procedures) registerProcedure(rest, deps, pipeline, procedure)
    done()
  })
}

function registerProcedure(
  rest: FastifyInstance,
  deps: Deps,
  pipeline: Pipeline,
  procedure: ServedProcedure<ApiProcedure, ApiCall>,
): void {
  const { contract } = procedure
  const readInput = contract.kind === 'query' ? urlReader(contract.input) : readBody
  rest.route({
    method: contract.method,
    url: contract.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    handler: async (request, reply) => {
      const call = await authorizeApiKey(deps, contract, { request, reply })
      const parse = () => parseInput(contract.input, readInput(request))
      const data = await pipeline.run(procedure, call, { bytes: sizeOf(request), parse })
      return { success: true, data }
    },
  })
}

/** Bytes of the body and of the URL, each of which may carry the input. */
export function sizeOf({ body, url }: FastifyRequest): number {
  return url.length + (Buffer.isBuffer(body) || typeof body === 'string' ? body.length : 0)
}

function readBody(request: FastifyRequest): unknown {
  return parseJsonBody(request.body, {
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
  })
}

/**
 * Path and query parameters are text. Converts those whose schema expects a number. Rejects a parameter that is given
 * several times, because none takes a list.
 */
export function urlReader(schema: z.ZodObject): (request: FastifyRequest) => unknown {
  const names = Object.keys(schema.shape)
  const numeric = names.filter((name) => unwrapSchema(schema.shape[name]) instanceof z.ZodNumber)
  return (request) => {
    const input: Record<string, unknown> = { ...(request.query as object), ...(request.params as object) }
    const repeated = names.find((name) => Array.isArray(input[name]))
    if (repeated !== undefined) throw invalidField(repeated, 'takes one value, but the URL has several.')
    for (const name of numeric)
      if (typeof input[name] === 'string' && /^-?\d+(\.\d+)?$/.test(input[name])) input[name] = Number(input[name])
    return input
  }
}
