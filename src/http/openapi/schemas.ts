import type { Schema } from './document.ts'

/**
 * Without what zod says twice: the pattern of a `date-time` has 300 characters and adds nothing to the
 * format, and the names of JSON properties are always strings.
 */
export function simplify(schema: Schema): Schema {
  return rewrite(schema, (inner) => {
    const saidTwice = inner.format === 'date-time' ? ['pattern', 'propertyNames'] : ['propertyNames']
    return Object.fromEntries(Object.entries(inner).filter(([keyword]) => !saidTwice.includes(keyword)))
  })
}

/** An answer stays open, so that a client takes a field that a later version adds. */
export function open(schema: Schema): Schema {
  return rewrite(schema, ({ additionalProperties, ...rest }) =>
    typeof additionalProperties === 'object' ? { ...rest, additionalProperties } : rest,
  )
}

export function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

/** Changes a schema and every schema inside it, the inner ones first. */
function rewrite(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const { properties, items, additionalProperties } = schema
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, (property) => rewrite(property, change)) }),
    ...(items && { items: rewrite(items, change) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: rewrite(additionalProperties, change) }),
  })
}
