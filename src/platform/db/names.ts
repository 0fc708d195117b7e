type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** `account_id as accountId`, or the name alone if both are the same. */
type Aliased<Name extends string> = Name extends `${string}_${string}` ? `${Name} as ${CamelCase<Name>}` : Name

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text

/** The columns that a text names, separated by spaces, each with the name of our field, as Kysely selects them. */
export function columnsOf<Text extends string>(...texts: Text[]): readonly Aliased<Words<Text>>[] {
  const names = texts.flatMap((text) => text.split(' '))
  const columns = names.map((name) => {
    const field = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    return field === name ? name : `${name} as ${field}`
  })
  // `split` loses the names.
  return columns as Aliased<Words<Text>>[]
}

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
