/** Cuts a text, but not within an emoji: neither UTF-8 nor JSON has a form for half of a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed()
}

/** Replaces control characters and Unicode line breaks. */
export function toLine(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
