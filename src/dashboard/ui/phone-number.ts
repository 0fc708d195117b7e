/** Removes plus signs, spaces, brackets and hyphens, because the API only accepts digits. */
export function withoutPunctuation(number: string): string {
  return number.replaceAll(/^\s*\+|[\s().\-/]/g, '')
}
