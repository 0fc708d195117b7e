import type { Template } from '../../../contracts/api/template.ts'
import { indent, type JsonSchema, printComment, printFields, printName } from './json-schema.ts'

/** Default output file. */
export const defaultOutput = 'waybill-templates.d.ts'

/** The first line of a generated file. A file without it is not overwritten. */
export const marker = '// Written by `waybill-client types` from the approved templates of the account.'

/** The fields of a send that do not depend on the template. */
const commonFields = new Set(['to', 'template', 'language', 'externalId', 'accountId'])

/** Types `sendSchema`, which servers of earlier versions do not send. */
type DescribedTemplate = Template & { sendSchema?: JsonSchema }

/** Prints the declarations of the templates. The result does not depend on the order of the templates. */
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

/** Prints one template with all its languages. */
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

/** Sorts independently of the machine's locale. */
function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
