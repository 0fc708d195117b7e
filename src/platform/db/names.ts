/** `accountId` becomes `account_id`. */
type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

/**
 * The columns of fields with their values: `accountId` becomes `account_id`. What is undefined stays undefined, which
 * Kysely leaves out.
 */
export function toRow<Fields extends object>(
  fields: Fields,
): { [Field in keyof Fields as SnakeCase<Field>]: Fields[Field] } {
  const entries = Object.entries(fields).map(([field, value]: [string, unknown]) => [
    field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ])
  // `Object.fromEntries` loses the names.
  return Object.fromEntries(entries) as { [Field in keyof Fields as SnakeCase<Field>]: Fields[Field] }
}
