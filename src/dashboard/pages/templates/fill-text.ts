const placeholder = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/** Fills in what was typed; a placeholder without a value stays to be seen. */
export function fillText(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(placeholder, (whole, key: string) =>
    Object.hasOwn(variables, key) && variables[key] !== '' ? (variables[key] ?? whole) : whole,
  )
}

/** The text in turns: what stands between the placeholders, and each of those. */
export function splitPlaceholders(text: string): { text: string; isPlaceholder: boolean }[] {
  return text
    .split(/(\{\{\s*[A-Za-z0-9_]+\s*\}\})/)
    .map((part, index) => ({ text: part, isPlaceholder: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}
