import { stringify } from 'yaml'
import {
  isReference,
  type OpenApi30Document,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type PathItem,
  type RequestBody,
  type Response,
  type Schema,
} from './document.ts'
import { mapValues } from './schemas.ts'

/**
 * Converts the document to OpenAPI 3.0.3, for tools that do not support 3.1. Webhooks are dropped, because 3.0 cannot
 * describe them. Throws for a keyword that 3.0 lacks or interprets differently.
 */
function toOpenApi30({ webhooks: _webhooks, ...document }: OpenApiDocument): OpenApi30Document {
  const { summary: _summary, license, ...info } = document.info
  const { identifier, ...terms } = license
  const used = new Set(Object.values(document.paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)))
  return {
    ...document,
    openapi: '3.0.3',
    info: { ...info, license: identifier === undefined ? terms : { ...terms, url: urlOfLicense(identifier) } },
    tags: document.tags.filter(({ name }) => used.has(name)),
    paths: mapValues(document.paths, convertPathItem),
    components: {
      ...document.components,
      schemas: mapValues(document.components.schemas, convertSchema),
      parameters: mapValues(document.components.parameters, convertParameter),
      responses: mapValues(document.components.responses, convertResponse),
      headers: mapValues(document.components.headers, (header) => ({
        ...header,
        schema: convertSchema(header.schema),
      })),
    },
  }
}

function urlOfLicense(identifier: string): string {
  return `https://spdx.org/licenses/${identifier}.html`
}

function convertPathItem(item: PathItem): PathItem {
  return Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, convertOperation(operation)]))
}

function convertOperation({ parameters, requestBody, responses, ...operation }: Operation): Operation {
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((parameter) => (isReference(parameter) ? parameter : convertParameter(parameter))),
    }),
    ...(requestBody && { requestBody: { ...requestBody, content: convertContent(requestBody.content) } }),
    responses: convertResponses(responses),
  }
}

function convertResponses(responses: Operation['responses']): Operation['responses'] {
  return mapValues(responses, (response) => (isReference(response) ? response : convertResponse(response)))
}

function convertParameter(parameter: Parameter): Parameter {
  return { ...parameter, schema: convertSchema(parameter.schema) }
}

function convertResponse(response: Response): Response {
  return { ...response, content: convertContent(response.content) }
}

function convertContent<Content extends RequestBody['content'] | Response['content']>(content: Content): Content {
  return mapValues(content, (body) => ({ ...body, schema: convertSchema(body.schema) })) as Content
}

/** Keywords that have the same meaning in both versions and need no conversion. */
const sharedKeywords: ReadonlySet<string> = new Set([
  'additionalProperties',
  'allOf',
  'anyOf',
  'default',
  'description',
  'enum',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'nullable',
  'oneOf',
  'pattern',
  'properties',
  'required',
  'title',
  'uniqueItems',
])

/** Converts JSON Schema 2020-12 to an OpenAPI 3.0 schema object. */
export function convertSchema(schema: Schema): Schema {
  // OpenAPI 3.0 ignores keywords next to `$ref`.
  if (schema.$ref !== undefined) return { $ref: schema.$ref }
  const converted: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) Object.assign(converted, convertKeyword(keyword, value))
  return converted
}

function convertKeyword(keyword: string, value: unknown): Schema {
  switch (keyword) {
    case 'type':
      return Array.isArray(value) ? convertTypes(value) : { type: String(value) }
    case 'const':
      return { enum: [value] }
    case 'examples':
      return Array.isArray(value) && value.length > 0 ? { example: value[0] } : {}
    case 'exclusiveMinimum':
      return { minimum: value, exclusiveMinimum: true }
    case 'exclusiveMaximum':
      return { maximum: value, exclusiveMaximum: true }
    case 'properties':
      return { properties: mapValues(value as Record<string, Schema>, convertSchema) }
    case 'items':
      return { items: convertSchema(value as Schema) }
    case 'additionalProperties':
      return { additionalProperties: typeof value === 'object' ? convertSchema(value as Schema) : value === true }
    case 'allOf':
      return { allOf: (value as Schema[]).map(convertSchema) }
    case 'anyOf':
    case 'oneOf':
      return convertAlternatives(keyword, value as Schema[])
    default:
      if (keyword.startsWith('x-') || sharedKeywords.has(keyword)) return { [keyword]: value }
      throw new Error(`OpenAPI 3.0 has no ${keyword} in a schema.`)
  }
}

function convertTypes(types: string[]): Schema {
  const [first, ...others] = types.filter((type) => type !== 'null')
  if (first === undefined || others.length > 0) throw new Error(`OpenAPI 3.0 has no type ${types.join(' or ')}.`)
  return { type: first, ...(types.includes('null') && { nullable: true }) }
}

/** A `null` alternative becomes `nullable` on the other alternatives. */
function convertAlternatives(keyword: 'anyOf' | 'oneOf', schemas: Schema[]): Schema {
  const others = schemas.filter((schema) => schema.type !== 'null').map(convertSchema)
  if (others.length === schemas.length) return { [keyword]: others }
  if (others.some(({ type }) => type === undefined)) throw new Error('OpenAPI 3.0 has no null beside a reference.')
  const [only, ...more] = others.map((schema) => ({ ...schema, nullable: true }))
  return more.length === 0 ? { ...only } : { [keyword]: [only, ...more] }
}

/** The other forms in which the server offers `openapi.json`. They are made from it, so that no copy can be out of date. */
export const openApiForms = {
  'openapi.yaml': (document: OpenApiDocument) => stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 }),
  'openapi-3.0.json': (document: OpenApiDocument) => `${JSON.stringify(toOpenApi30(document), null, 2)}\n`,
}
