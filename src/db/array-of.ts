/**
 * An array as PostgreSQL writes it (its manual, 8.15.6), of our own ids, words, numbers and times (to the year 9999):
 * nothing in them needs quotes, and none is empty. `pg` would put each into quotes, having looked for what to escape,
 * which takes as long as the rest of a statement's way there. What somebody else has written is given to `pg` as a list.
 */
export function arrayOf<Item>(
  items: readonly Item[],
  value: (item: Item) => string | number | Date | null | undefined,
): string {
  return `{${items.map((item) => toElement(value(item))).join(',')}}`
}

function toElement(value: string | number | Date | null | undefined): string | number {
  return value instanceof Date ? value.toISOString() : (value ?? 'null')
}
