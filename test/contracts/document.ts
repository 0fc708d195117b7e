import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument, Parameter, Reference, Response } from '../../src/http/openapi/document.ts'

/** The committed file, as callers download it. */
export const openApi: OpenApiDocument = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

// Not strict, since a JSON Schema validator doesn't know the OpenAPI keywords around the schemas.
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(openApi, 'openapi.json')

/** Compiles the schema at a JSON pointer (RFC 6901) of the document. */
export function compileSchemaAt(pointer: string): ValidateFunction {
  return ajv.compile({ $ref: `openapi.json#${pointer}` })
}

export function pointTo(...keys: string[]): string {
  return keys.map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
}

/** Lists every object in the document with the keys of its path. */
export function listNodes(node: unknown = openApi, keys: string[] = []): { keys: string[]; node: object }[] {
  if (typeof node !== 'object' || node === null) return []
  return [
    { keys, node },
    ...Object.entries(node).flatMap(([key, child]: [string, unknown]) => listNodes(child, [...keys, key])),
  ]
}

/** Resolves a response of an operation, inline or shared. */
export function resolveResponse(response: Response | Reference): Response {
  if (!('$ref' in response)) return response
  const shared = openApi.components.responses[response.$ref.replace('#/components/responses/', '')]
  if (!shared) throw new Error(`${response.$ref} leads nowhere`)
  return shared
}

/** Resolves a parameter of an operation, inline or shared. */
export function resolveParameter(parameter: Parameter | Reference): Parameter {
  if (!('$ref' in parameter)) return parameter
  const shared = openApi.components.parameters[parameter.$ref.replace('#/components/parameters/', '')]
  if (!shared) throw new Error(`${parameter.$ref} leads nowhere`)
  return shared
}
