/**
 * The form in which numbers are compared. WhatsApp writes some mobile numbers of Mexico and Brazil with and without an
 * extra digit (reference, section 1), so a recipient can reply from a number that differs from `to`.
 */
export function toNumberKey(number: string): string {
  // Mexico: 52, an optional 1, ten digits.
  if (/^521\d{10}$/.test(number)) return `52${number.slice(3)}`
  // Brazil: 55, an area code, an optional 9, eight digits.
  if (/^55\d{2}9\d{8}$/.test(number)) return number.slice(0, 4) + number.slice(5)
  return number
}

/** All spellings of a number that share its key: that of the key, and that with the extra digit. */
export function spellingsOf(number: string): string[] {
  const key = toNumberKey(number)
  if (/^52\d{10}$/.test(key)) return [key, `521${key.slice(2)}`]
  if (/^55\d{10}$/.test(key)) return [key, `${key.slice(0, 4)}9${key.slice(4)}`]
  return [key]
}
