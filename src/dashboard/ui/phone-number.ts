/** People write a plus, spaces, brackets and hyphens; the API takes only digits. */
export function withoutPunctuation(number: string): string {
  return number.replaceAll(/^\s*\+|[\s().\-/]/g, '')
}
