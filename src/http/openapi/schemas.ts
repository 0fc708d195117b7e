import { z } from 'zod'
import type { Schema } from './document.ts'

/** Returns a named schema and the named schemas inside it. Generated as an input, so that unknown fields are allowed. */
export function listNamedSchemas(schema: z.ZodType): Record<string, Schema> {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: 'input' }))
  return JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/')).$defs
}

/**
 * Removes redundant keywords that zod adds: the pattern of a `date-time` or `date` has up to 300 characters and adds
 * nothing to the format, and the names of JSON properties are always strings.
 */
export function simplify(schema: Schema): Schema {
  return rewrite(schema, ({ propertyNames: _propertyNames, pattern, ...inner }) => {
    const isRedundant = inner.format === 'date-time' || inner.format === 'date'
    // The source of a JavaScript expression escapes slashes, which generators copy into code that rejects the escape.
    return pattern === undefined || isRedundant ? inner : { ...inner, pattern: pattern.replaceAll('\\/', '/') }
  })
}

/** Returns the schema of data that we send. */
export function writeResponseSchema(schema: Schema): Schema {
  return simplify(open(schema))
}

/** Makes a response schema extensible, so that a client accepts fields and values that a later version adds. */
function open(schema: Schema): Schema {
  return rewrite(schema, ({ additionalProperties, ...rest }) =>
    openValues(typeof additionalProperties === 'object' ? { ...rest, additionalProperties } : rest),
  )
}

/**
 * Replaces `enum` and `const`: a generated client would reject a new value after the server has processed the request.
 * Current values of a string are listed as an extension; other types keep only their type.
 */
function openValues(schema: Schema): Schema {
  const { const: _const, enum: _enum, ...rest } = schema
  const values = listValues(schema)
  if (values.length === 0 || schema.type !== 'string') return rest
  return {
    ...rest,
    description: `${schema.description ?? ''} Expect values that are not listed: later versions may add some.`.trim(),
    'x-extensible-enum': values,
  }
}

function listValues({ const: only, enum: several }: Schema): unknown[] {
  return Array.isArray(several) ? several : only === undefined ? [] : [only]
}

/**
 * Merges alternatives into one object schema, because generators differ in how they distinguish alternatives, and
 * reject unknown ones. A field is required if every alternative requires it; lists of values are combined.
 */
export function mergeAlternatives([first = {}, ...others]: Schema[]): Schema {
  return others.reduce(mergePair, first)
}

function mergePair(one: Schema, other: Schema): Schema {
  const { const: _const, enum: _enum, ...rest } = one
  const values = [...new Set([...listValues(one), ...listValues(other)])]
  const required = one.required?.filter((name) => other.required?.includes(name))
  return {
    ...rest,
    ...(values.length > 0 && { enum: values }),
    ...(one.properties && { properties: mergeProperties(one.properties, other.properties ?? {}) }),
    ...(required && { required }),
  }
}

function mergeProperties(one: Record<string, Schema>, other: Record<string, Schema>): Record<string, Schema> {
  const shared = Object.entries(one).map(([name, schema]) => [name, mergeAlternatives([schema, other[name] ?? schema])])
  return { ...other, ...Object.fromEntries(shared) }
}

export function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

/** Applies a change to a schema and every schema inside it, innermost first. */
function rewrite(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const { properties, items, additionalProperties } = schema
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, (property) => rewrite(property, change)) }),
    ...(items && { items: rewrite(items, change) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: rewrite(additionalProperties, change) }),
  })
}
