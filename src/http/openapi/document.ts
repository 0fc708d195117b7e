/** The parts of OpenAPI 3.1 that our document uses, by the names of its specification. */
export interface OpenApiDocument {
  openapi: string
  info: object
  servers: object[]
  security: object[]
  tags: object[]
  paths: Record<string, PathItem>
  webhooks: Record<string, { post: WebhookOperation }>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Response>
    headers: Record<string, Header>
    securitySchemes: object
  }
}

export type PathItem = { [Method in 'get' | 'post']?: Operation }

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: Body & { required: boolean }
  responses: Record<string, Response | Reference>
}

/** A request that we make: whoever receives it answers, and needs no key of ours. */
export interface WebhookOperation extends Omit<Operation, 'responses'> {
  parameters: Parameter[]
  requestBody: Body & { required: true }
  responses: Record<string, { description: string }>
  security: []
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description: string
  schema: Schema
  examples?: Record<string, Example>
}

export interface Response extends Body {
  description: string
  headers: Record<string, Reference>
}

interface Body {
  content: { 'application/json': { schema: Schema; examples?: Record<string, Example> } }
}

export interface Example {
  value: unknown
  /** Scalar's: shown, but not sent until it is chosen. */
  'x-disabled'?: boolean
}

export interface Header {
  description: string
  schema: Schema
  example?: unknown
}

export type Reference = { $ref: string }

/** JSON Schema (2020-12), as far as we look into it. */
export interface Schema {
  $ref?: string
  type?: string
  format?: string
  pattern?: string
  description?: string
  properties?: Record<string, Schema>
  examples?: unknown[]
  items?: Schema
  additionalProperties?: boolean | Schema
  [keyword: string]: unknown
}

export function refer(kind: 'schemas' | 'responses' | 'headers', name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` }
}
