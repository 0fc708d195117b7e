/**
 * Replaces each reference in a schema with its definition (`$defs`), for clients that do not resolve references, and
 * removes the names (`id`) of definitions. Contract schemas are not recursive, so this terminates.
 */
export function inlineDefinitions(node: unknown, find: (name: string) => unknown): unknown {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map((item) => inlineDefinitions(item, find))
  const { $ref, ...siblings } = node as Record<string, unknown>
  // A property may also be called `id`; then its value is a schema, not a string.
  if (typeof siblings['id'] === 'string') delete siblings['id']
  const definition = typeof $ref === 'string' ? find($ref.replace('#/$defs/', '')) : undefined
  if (typeof definition === 'object') return inlineDefinitions({ ...definition, ...siblings }, find)
  return Object.fromEntries(Object.entries(siblings).map(([name, inner]) => [name, inlineDefinitions(inner, find)]))
}
