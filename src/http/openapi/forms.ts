import { stringify } from 'yaml'
import type { OpenApiDocument } from './document.ts'
import { toOpenApi30 } from './openapi30.ts'

/** The other forms in which the server offers `openapi.json`. They are made from it, so that no copy can be out of date. */
export const openApiForms = {
  'openapi.yaml': (document: OpenApiDocument) => stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 }),
  'openapi-3.0.json': (document: OpenApiDocument) => `${JSON.stringify(toOpenApi30(document), null, 2)}\n`,
}
