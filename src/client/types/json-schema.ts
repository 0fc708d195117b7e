/** The keywords of JSON Schema 2020-12 that a send schema uses. */
export interface JsonSchema {
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
export function printFields({ properties = {}, required = [] }: JsonSchema, depth: number): string {
  const lines = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${printComment(describe(property), depth + 1)}${indent(depth + 1)}${printName(name)}${mark}: ${printType(property, depth + 1)}\n`
  })
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent(depth)}}`
}

export function indent(depth: number): string {
  return indentation.repeat(depth)
}

export function printName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : printLiteral(name)
}

/** A JSON string is also a TypeScript string. Uses single quotes, as most formatters do. */
function printLiteral(value: unknown): string {
  const json = JSON.stringify(value)
  if (typeof value !== 'string') return json
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

const maxCommentCharacters = 300

/** Escapes the text, because it comes from templates and could end the comment. */
export function printComment(text: string, depth: number): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  const short = line.length > maxCommentCharacters ? `${line.slice(0, maxCommentCharacters).trimEnd()} …` : line
  return short === '' ? '' : `${indent(depth)}/** ${short.replaceAll('*/', '* /')} */\n`
}

function describe({ description = '', examples = [] }: JsonSchema): string {
  const [example] = examples
  return typeof example === 'string' ? `${description} For example: ${example}`.trim() : description
}
