import { initTRPC, type TRPCRouterRecord } from '@trpc/server'
import { generateOpenApiDocument, type OpenApiMeta } from 'trpc-to-openapi'
import { z } from 'zod'
import { successEnvelope } from '../../../contracts/envelope.ts'
import { IdempotencyKey } from '../../../contracts/fields.ts'
import { type ApiProcedure, type ProcedureTree, isProcedure } from '../../../contracts/procedure.ts'
import type { OpenApiDocument } from './document.ts'

const trpc = initTRPC.meta<OpenApiMeta>().create()

/**
 * Generates paths, parameters and schemas with trpc-to-openapi, from a router that exists only for this purpose. Error
 * responses are omitted, because the generator's have a different shape from ours.
 */
export function draftDocument(contracts: ProcedureTree<ApiProcedure>): OpenApiDocument {
  const document = generateOpenApiDocument(trpc.router(describeTree(contracts)), {
    openApiVersion: '3.1.0',
    title: '',
    version: '',
    baseUrl: '/',
  })
  // The JSON round trip removes the generator's `undefined` values.
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
    .input(unrefined(input))
    .output(nameEnvelope(output))
  return kind === 'query' ? procedure.query(unserved) : procedure.mutation(unserved)
}

/** The generator opens a refined object when it copies it, so it gets the fields alone. */
function unrefined(input: ApiProcedure['input']): ApiProcedure['input'] {
  return z.strictObject(input.shape).meta(input.meta() ?? {})
}

/** Procedures with the same output share one envelope, because a schema name must be unique. */
const envelopes = new WeakMap<z.ZodType, z.ZodType>()

function nameEnvelope(output: z.ZodType): z.ZodType {
  const known = envelopes.get(output)
  if (known) return known
  const envelope = successEnvelope(output)
    .describe('The response to a successful request.')
    .meta({ id: `${output.meta()?.id}Response` })
  envelopes.set(output, envelope)
  return envelope
}

function unserved(): never {
  throw new Error('This router describes the procedures; it does not serve them.')
}
