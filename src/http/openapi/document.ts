/** The parts of OpenAPI that our document uses, named as in the specification. */
export interface OpenApiDocument {
  openapi: string
  info: Info
  externalDocs: object
  servers: object[]
  security: object[]
  tags: { name: string; description: string }[]
  paths: Record<string, PathItem>
  webhooks: Record<string, { post: WebhookOperation }>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Response>
    headers: Record<string, Header>
    securitySchemes: object
  }
}

/** OpenAPI 3.0 cannot describe webhooks. */
export type OpenApi30Document = Omit<OpenApiDocument, 'webhooks'>

interface Info {
  title: string
  version: string
  summary?: string
  description: string
  contact: object
  license: { name: string; identifier?: string; url?: string }
}

export type PathItem = { [Method in 'get' | 'post']?: Operation }

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters?: (Parameter | Reference)[]
  requestBody?: RequestBody
  responses: Record<string, Response | Reference>
  /** The error codes that this operation can return. */
  'x-error-codes': readonly string[]
}

/** A request that we send. The receiver responds, and no API key is involved. */
export interface WebhookOperation extends Omit<Operation, 'parameters' | 'responses' | 'x-error-codes'> {
  parameters: Parameter[]
  requestBody: JsonBody & { required: true }
  responses: Record<string, { description: string }>
  security: []
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description: string
  schema: Schema
  example?: unknown
  examples?: Record<string, Example>
}

export interface Response {
  description: string
  headers: Record<string, Reference>
  /** By media type. Only a stream is not JSON. */
  content: Record<string, { schema: Schema; examples?: Record<string, Example> }>
}

interface JsonBody {
  content: { 'application/json': { schema: Schema; examples?: Record<string, Example> } }
}

export interface RequestBody {
  required: boolean
  /** A form is a request with a file. */
  content: JsonBody['content'] | { 'multipart/form-data': { schema: Schema } }
}

export interface Example {
  value: unknown
  /** Scalar's extension: the example is shown, but not sent until the reader enables it. */
  'x-disabled'?: boolean
}

export interface Header {
  description: string
  schema: Schema
  example?: unknown
}

export type Reference = { $ref: string }

/** The JSON Schema (2020-12) keywords that our code reads. */
export interface Schema {
  $ref?: string
  type?: string
  format?: string
  pattern?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  examples?: unknown[]
  items?: Schema
  additionalProperties?: boolean | Schema
  [keyword: string]: unknown
}

export function refer(kind: 'schemas' | 'parameters' | 'responses' | 'headers', name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` }
}

export function isReference(node: object): node is Reference {
  return '$ref' in node
}
