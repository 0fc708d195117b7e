/** Returns the names in a `fields` parameter, without what is nested in them: `id,subscribed_apps{id,name}` names two. */
function namesIn(fields: string): string[] {
  return fields
    .replace(/\{[^}]*\}/g, '')
    .split(',')
    .map((field) => field.trim().replace(/\..*$/, ''))
}

/** Returns the requested fields of a node, or the default ones. `id` is always included. */
export function pickFields(node: object, query: URLSearchParams, defaults: readonly string[]): object {
  const given = query.get('fields')
  const wanted = new Set(given === null ? defaults : namesIn(given))
  return Object.fromEntries(Object.entries(node).filter(([field]) => field === 'id' || wanted.has(field)))
}
