/**
 * Puts each definition of a schema (`$defs`) in the place of its references, for readers that follow none. The names of
 * the definitions go with them. Schemas of contracts are trees, so this ends.
 */
export function inlineDefinitions(node: unknown, definitions: Readonly<Record<string, unknown>>): unknown {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map((item) => inlineDefinitions(item, definitions))
  const { $ref, ...beside } = node as Record<string, unknown>
  // A property may be called `id`: then its value is a schema.
  if (typeof beside['id'] === 'string') delete beside['id']
  const referred = typeof $ref === 'string' ? definitions[$ref.replace('#/$defs/', '')] : undefined
  if (typeof referred === 'object') return inlineDefinitions({ ...referred, ...beside }, definitions)
  return Object.fromEntries(
    Object.entries(beside).map(([name, inner]) => [name, inlineDefinitions(inner, definitions)]),
  )
}
