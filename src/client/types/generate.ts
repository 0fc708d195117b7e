import type { Template } from '../../../contracts/api/template.ts'

/** Default output file. */
export const defaultOutput = 'waybill-templates.d.ts'

/** The first line of a generated file. A file without it is not overwritten. */
export const marker = '// Written by `waybill-client types` from the approved templates of the account.'

/** The fields of a send that do not depend on the template. */
const commonFields = new Set(['to', 'recipient', 'template', 'language', 'externalId', 'accountId'])

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

/** The keywords of JSON Schema 2020-12 that a send schema uses. */
interface JsonSchema {
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly JsonSchema[]
  type?: string
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  items?: JsonSchema
  /** The items of a list with a fixed length, such as the cards of a carousel. */
  prefixItems?: readonly JsonSchema[]
  description?: string
  examples?: readonly unknown[]
}

const indentation = '  '

/** Prints a schema as a TypeScript type. The server checks what a type cannot express, such as a length. */
function printType(schema: JsonSchema, depth: number): string {
  if (schema.const !== undefined) return printLiteral(schema.const)
  if (schema.enum) return schema.enum.map(printLiteral).join(' | ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map((each) => printType(each, depth)))].join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      if (schema.prefixItems) return `[${schema.prefixItems.map((item) => printType(item, depth)).join(', ')}]`
      return `Array<${schema.items ? printType(schema.items, depth) : 'unknown'}>`
    case 'object':
      return schema.properties ? printFields(schema, depth) : 'Record<string, unknown>'
    default:
      return 'unknown'
  }
}

/** Prints an object type with one commented line for each property. */
function printFields({ properties = {}, required = [] }: JsonSchema, depth: number): string {
  const lines = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${printComment(describe(property), depth + 1)}${indent(depth + 1)}${printName(name)}${mark}: ${printType(property, depth + 1)}\n`
  })
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent(depth)}}`
}

function indent(depth: number): string {
  return indentation.repeat(depth)
}

function printName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : printLiteral(name)
}

/** A JSON string is also a TypeScript string. Uses single quotes, as most formatters do. */
function printLiteral(value: unknown): string {
  const json = JSON.stringify(value)
  if (typeof value !== 'string') return json
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

const maxCommentCharacters = 300

/** Half an emoji would be another character in the file. */
function cut(line: string): string {
  return line.slice(0, maxCommentCharacters).replace(/[\uD800-\uDBFF]$/, '')
}

/** Escapes the text, because it comes from templates and could end the comment. */
function printComment(text: string, depth: number): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  const short = line.length > maxCommentCharacters ? `${cut(line).trimEnd()} …` : line
  return short === '' ? '' : `${indent(depth)}/** ${short.replaceAll('*/', '* /')} */\n`
}

function describe({ description = '', examples = [] }: JsonSchema): string {
  const [example] = examples
  return typeof example === 'string' ? `${description} For example: ${example}`.trim() : description
}
