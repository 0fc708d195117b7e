import { initTRPC, type TRPCRouterRecord } from '@trpc/server'
import { generateOpenApiDocument, type OpenApiMeta } from 'trpc-to-openapi'
import { z } from 'zod'
import { successEnvelope } from '../../../contracts/envelope.ts'
import { IdempotencyKey } from '../../../contracts/fields.ts'
import { type ApiProcedure, type ProcedureTree, isProcedure } from '../../../contracts/procedure.ts'
import type { OpenApiDocument } from './document.ts'

const trpc = initTRPC.meta<OpenApiMeta>().create()

/**
 * Paths, parameters and schemas as trpc-to-openapi sees them, over a router that exists for the document
 * alone. Its error responses have a shape of its own, so it is asked for none.
 */
export function draftDocument(contracts: ProcedureTree<ApiProcedure>): OpenApiDocument {
  const document = generateOpenApiDocument(trpc.router(describeTree(contracts)), {
    openApiVersion: '3.1.0',
    title: '',
    version: '',
    baseUrl: '/',
  })
  // A round trip leaves plain JSON, without the generator's `undefined`s.
  return JSON.parse(JSON.stringify(document))
}

function describeTree(tree: ProcedureTree<ApiProcedure>): TRPCRouterRecord {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => [name, isProcedure(node) ? describe(node) : describeTree(node)]),
  )
}

function describe({ kind, method, path, input, output, idempotent }: ApiProcedure) {
  const procedure = trpc.procedure
    .meta({
      openapi: {
        method,
        path,
        errorResponses: [],
        ...(idempotent && { requestHeaders: z.object({ 'Idempotency-Key': IdempotencyKey.optional() }) }),
      },
    })
    .input(input)
    .output(nameEnvelope(output))
  return kind === 'query' ? procedure.query(unserved) : procedure.mutation(unserved)
}

/** Procedures with the same answer share its schema: a name belongs to one schema. */
const envelopes = new WeakMap<z.ZodType, z.ZodType>()

function nameEnvelope(output: z.ZodType): z.ZodType {
  const known = envelopes.get(output)
  if (known) return known
  const envelope = successEnvelope(output)
    .describe('The answer to a request that succeeded.')
    .meta({ id: `${output.meta()?.id}Response` })
  envelopes.set(output, envelope)
  return envelope
}

function unserved(): never {
  throw new Error('This router describes the procedures; it does not serve them.')
}
