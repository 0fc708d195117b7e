import type { Template } from '../../../contracts/api/template.ts'
import { indent, type JsonSchema, printComment, printFields, printName } from './json-schema.ts'

/** Where the declarations are written unless the caller names another file. */
export const defaultOutput = 'waybill-templates.d.ts'

/** The first line of each file, by which it is recognized before it is overwritten. */
export const marker = '// Written by `waybill-client types` from the approved templates of the account.'

/** The fields of a send that every template has. */
const commonFields = new Set(['to', 'template', 'language', 'externalId', 'accountId'])

/** `sendSchema` as the JSON Schema that it is. A server of an earlier version sends none. */
type DescribedTemplate = Template & { sendSchema?: JsonSchema }

/** Prints the declarations of the templates. The same templates give the same text, in whatever order they come. */
export function generateTypes(templates: readonly Template[]): string {
  const names = [...new Set(templates.map(({ name }) => name))].toSorted(byCodeUnit)
  const declared = names.map((name) => printTemplate(templates.filter((template) => template.name === name)))
  return `${marker}
// Do not edit: run it again when templates change.
export {}

declare module 'waybill-client' {
  interface ApprovedTemplates {
${declared.join('')}  }
}
`
}

/** One template in all its languages. */
function printTemplate(versions: readonly Template[]): string {
  const [first] = versions
  if (first === undefined) return ''
  const languages = versions.toSorted((a, b) => byCodeUnit(a.language, b.language)).map(printVersion)
  return `${indent(2)}${printName(first.name)}: {\n${languages.join('')}${indent(2)}}\n`
}

function printVersion(template: Template): string {
  const comment = printComment(textOf(template), 3)
  return `${comment}${indent(3)}${printName(template.language)}: ${printFields(schemaOf(template), 3)}\n`
}

function textOf({ components }: Template): string {
  return components.find(({ type }) => type.toUpperCase() === 'BODY')?.text ?? ''
}

/** The fields of a send that depend on the template. */
function schemaOf(template: DescribedTemplate): JsonSchema {
  const { properties = {}, required = [] } = template.sendSchema ?? schemaOfVariables(template)
  const own = Object.entries(properties).filter(([name]) => !commonFields.has(name))
  return { type: 'object', properties: Object.fromEntries(own), required }
}

function schemaOfVariables({ placeholders }: Template): JsonSchema {
  if (placeholders.length === 0) return {}
  const variables = placeholders.map(({ key, example }): [string, JsonSchema] => [
    key,
    { type: 'string', description: `Fills {{${key}}}.`, ...(example !== undefined && { examples: [example] }) },
  ])
  return {
    properties: {
      variables: {
        type: 'object',
        properties: Object.fromEntries(variables),
        required: placeholders.map(({ key }) => key),
      },
    },
    required: ['variables'],
  }
}

/** The same order on every machine, whatever its locale. */
function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
