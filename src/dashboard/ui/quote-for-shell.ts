/** Quotes text for a POSIX shell, in which single quotes make everything literal. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
