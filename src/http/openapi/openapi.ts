import { initTRPC, type TRPCRouterRecord } from '@trpc/server'
import { generateOpenApiDocument, type OpenApiMeta } from 'trpc-to-openapi'
import { z } from 'zod'
import { successEnvelope } from '../../../contracts/envelope.ts'
import { IdempotencyKey } from '../../../contracts/fields.ts'
import { restContracts } from '../../../contracts/index.ts'
import {
  type ApiProcedure,
  isProcedure,
  listProcedures,
  type ProcedureTree,
  tags,
} from '../../../contracts/procedure.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { OpenApiDocument, PathItem, Schema } from './document.ts'
import {
  headers,
  hoistSharedParameters,
  hoistSharedResponses,
  readJsonSchema,
  writeFailureSchemas,
  writeOperation,
} from './operation.ts'
import { mapValues, simplify, writeResponseSchema } from './schemas.ts'
import { eventNames, writeEventSchemas, writeWebhooks } from './webhooks.ts'

/** Generates the OpenAPI document of the public REST API and of the webhooks, from the contracts alone. */
function generateOpenApi(): OpenApiDocument {
  const draft = draftDocument(restContracts)
  const bodies = collectBodies(draft)
  const ofRequests = listReferenced(Object.values(bodies), draft.components.schemas)
  const paths = writePaths(draft)
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  const responses = hoistSharedResponses(operations)
  const parameters = hoistSharedParameters(operations)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybill',
      version: packageJson.version,
      summary: 'WhatsApp template messages over one HTTP call.',
      description,
      contact: { name: 'The operator of the Waybill that serves this document' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { description: 'Guides', url: '/docs' },
    // Only one: some clients choose any of several, and would send the key elsewhere.
    servers: [{ url: '/', description: 'The Waybill that serves this document.' }],
    security: [{ ApiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: writeWebhooks(),
    components: {
      schemas: {
        ...mapValues(bodies, simplify),
        ...mapValues(listResponseSchemas(draft), writeResponseSchema),
        ...writeEventSchemas(),
        ...writeFailureSchemas(),
        ...mapValues(pick(draft.components.schemas, ofRequests), simplify),
      },
      parameters,
      responses,
      headers,
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'The API key of the account, from Settings > Public API in its dashboard.',
        },
      },
    },
  }
}

const description =
  'Sends pre-approved WhatsApp template messages, one call for one recipient, and reports delivery, reads and failures by webhook. Every request carries the API key of the account in the header `X-API-Key`. A success is `{"success": true, "data": …}`, a failure `{"success": false, "error": {"code": …, "message": …}}`: programs read `code`, people read `message`. Responses may gain fields, and lists of values such as codes, statuses and event types may gain values: ignore fields that you do not know, and expect values that are not listed.'

/** Returns the exact content of `openapi.json`. */
export function printOpenApi(): string {
  return printJson(generateOpenApi())
}

function printJson(document: object): string {
  return `${printCompact(document, '')}\n`
}

/** Short arrays and objects stay on one line, as formatters print them: a third of the size is indentation otherwise. */
function printCompact(value: unknown, indent: string): string {
  const flat = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || flat.length + indent.length <= maxLine) return flat
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const lines = Array.isArray(value)
    ? value.map((item) => inner + printCompact(item, inner))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${printCompact(item, inner)}`)
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

const maxLine = 200

function writePaths(draft: OpenApiDocument): OpenApiDocument['paths'] {
  const paths: Record<string, PathItem> = {}
  for (const { name, contract } of listProcedures(restContracts)) {
    const method = contract.method === 'GET' ? 'get' : 'post'
    const operation = draft.paths[contract.path]?.[method]
    if (!operation) throw new Error(`The generator left out ${name}.`)
    const written = writeOperation(operation, name, contract, draft.components.schemas)
    paths[contract.path] = { ...paths[contract.path], [method]: written }
  }
  return paths
}

/** Returns the request body schemas by name. The generator writes them inline. */
function collectBodies({ paths }: OpenApiDocument): Record<string, Schema> {
  const bodies = listProcedures(restContracts).flatMap(({ contract: { path, input } }) => {
    const body = paths[path]?.post?.requestBody
    const schema = body && readJsonSchema(body)
    const name = input.meta()?.id
    return schema && name !== undefined ? [[name, schema] as const] : []
  })
  return Object.fromEntries(bodies)
}

function listResponseSchemas({ components }: OpenApiDocument): Record<string, Schema> {
  return Object.fromEntries(Object.entries(components.schemas).filter(([name]) => !eventNames.includes(name)))
}

/** Returns the names of the schemas that these schemas refer to, directly or indirectly. Like the bodies, they allow no other fields. */
function listReferenced(from: unknown[], schemas: Record<string, Schema>): Set<string> {
  const found = new Set<string>()
  const pending = [...from]
  while (pending.length > 0) {
    const names = JSON.stringify(pending.pop()).matchAll(/"#\/components\/schemas\/([^"]+)"/g)
    for (const [, name = ''] of names) {
      if (!found.has(name)) pending.push(schemas[name])
      found.add(name)
    }
  }
  return found
}

function pick(schemas: Record<string, Schema>, names: Set<string>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => names.has(name)))
}

const trpc = initTRPC.meta<OpenApiMeta>().create()

/**
 * Generates paths, parameters and schemas with trpc-to-openapi, from a router that exists only for this purpose. Error
 * responses are omitted, because the generator's have a different shape from ours.
 */
function draftDocument(contracts: ProcedureTree<ApiProcedure>): OpenApiDocument {
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

function describe({ kind, method, path, input, output, idempotent, streams }: ApiProcedure) {
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
    .output(streams ? output : nameEnvelope(output))
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
    .describe('A success.')
    .meta({ id: `${output.meta()?.id}Response` })
  envelopes.set(output, envelope)
  return envelope
}

function unserved(): never {
  throw new Error('This router describes the procedures; it does not serve them.')
}
