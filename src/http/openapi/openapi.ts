import { contracts } from '../../../contracts/index.ts'
import { listProcedures, tags } from '../../../contracts/procedure.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { OpenApiDocument, PathItem, Schema } from './document.ts'
import { draftDocument } from './draft.ts'
import { headers } from './headers.ts'
import { writeIntroduction } from './introduction.ts'
import { writeOperation } from './operation.ts'
import { hoistSharedResponses } from './responses.ts'
import { mapValues, open, simplify } from './schemas.ts'
import { writeEventSchemas, writeWebhooks } from './webhooks.ts'

/** The document of the public REST interface and of the webhooks, from the contracts and from nothing else. */
function generateOpenApi(): OpenApiDocument {
  const draft = draftDocument(contracts)
  const bodies = collectBodies(draft)
  const ofRequests = listReferred(Object.values(bodies), draft.components.schemas)
  const paths = writePaths(draft)
  const responses = hoistSharedResponses(Object.values(paths).flatMap((item) => Object.values(item)))
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybill',
      version: packageJson.version,
      summary: 'WhatsApp template messages over one HTTP call.',
      description: writeIntroduction(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The Waybill that serves this document.' }],
    security: [{ ApiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: writeWebhooks(),
    components: {
      schemas: {
        ...mapValues(bodies, simplify),
        ...mapValues({ ...draft.components.schemas, ...writeEventSchemas() }, writeAnswer),
        ...mapValues(pick(draft.components.schemas, ofRequests), simplify),
      },
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

/** The file `openapi.json`, to the byte. */
export function printOpenApi(): string {
  return `${JSON.stringify(generateOpenApi(), null, 2)}\n`
}

function writePaths(draft: OpenApiDocument): OpenApiDocument['paths'] {
  const paths: Record<string, PathItem> = {}
  for (const { name, contract } of listProcedures(contracts)) {
    const method = contract.method === 'GET' ? 'get' : 'post'
    const operation = draft.paths[contract.path]?.[method]
    if (!operation) throw new Error(`The generator left out ${name}.`)
    paths[contract.path] = { ...paths[contract.path], [method]: writeOperation(operation, name, contract) }
  }
  return paths
}

/** The schemas of the request bodies, which the generator leaves in place, under their names. */
function collectBodies({ paths }: OpenApiDocument): Record<string, Schema> {
  const bodies = listProcedures(contracts).flatMap(({ contract: { path, input } }) => {
    const schema = paths[path]?.post?.requestBody?.content['application/json'].schema
    const name = input.meta()?.id
    return schema && name !== undefined ? [[name, schema] as const] : []
  })
  return Object.fromEntries(bodies)
}

/** The named schemas that these schemas refer to, directly or through others. They stay closed, like the bodies. */
function listReferred(from: unknown[], schemas: Record<string, Schema>): Set<string> {
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

function writeAnswer(schema: Schema): Schema {
  return simplify(open(schema))
}
