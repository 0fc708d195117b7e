/** Cuts a text, but not within an emoji: neither UTF-8 nor JSON has a form for half of a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed()
}
