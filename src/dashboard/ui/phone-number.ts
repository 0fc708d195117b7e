/**
 * Removes plus signs, spaces, brackets and hyphens, because the API only accepts digits. A number that a spreadsheet
 * exported as a float (`34600111222.0`) loses its fraction; any other fraction stays, so that the number is rejected
 * instead of becoming a longer one.
 */
export function withoutPunctuation(number: string): string {
  const [, whole, fraction] = /^\s*\+?(\d{7,15})\.(\d*)\s*$/.exec(number) ?? []
  if (whole !== undefined && fraction !== undefined) return /^0{0,3}$/.test(fraction) ? whole : number
  return number.replaceAll(/^\s*\+|[\s().\-/]/g, '')
}
