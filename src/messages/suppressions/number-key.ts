/**
 * Countries where one number has two spellings: what belongs to each of them, and how the form in which numbers are
 * compared follows from it (reference, section 1; reference 3, section 4.2).
 */
const countries = [
  // Mexico: 52, an optional 1, ten digits.
  { longer: /^521(\d{10})$/, shorter: /^52(\d{10})$/, short: '52', long: '521' },
  // Argentina: 54, an optional 9, area code and number with ten digits.
  { longer: /^549(\d{10})$/, shorter: /^54(\d{10})$/, short: '54', long: '549' },
  // Benin: 229, 01 since November 2024, eight digits.
  { longer: /^22901(\d{8})$/, shorter: /^229(\d{8})$/, short: '229', long: '22901' },
] as const
const longBrazilian = /^(55\d{2})9(\d{8})$/
const shortBrazilian = /^(55\d{2})(\d{8})$/

/**
 * The form in which recipients are compared. WhatsApp writes some numbers with and without extra digits, so a recipient
 * can reply from a number that differs from `to`. A user ID is compared as it is.
 */
export function toNumberKey(recipient: string): string {
  // Brazil: 55, an area code, an optional 9, eight digits.
  const [, area, local] = longBrazilian.exec(recipient) ?? []
  if (area !== undefined && local !== undefined) return area + local
  for (const { longer, short } of countries) {
    const rest = longer.exec(recipient)?.[1]
    if (rest !== undefined) return short + rest
  }
  return recipient
}

/** The same form in SQL, of an expression. */
export function numberKeySql(number: string): string {
  const folded = countries.reduce(
    (sql, { longer, short }) => `regexp_replace(${sql}, '${longer.source}', '${short}\\1')`,
    `regexp_replace(${number}, '${longBrazilian.source}', '\\1\\2')`,
  )
  // Compared first, because most numbers are of other countries, and each expression costs time.
  const starts = ['55', ...countries.map(({ short }) => short)].map((code) => `'${code.slice(0, 2)}'`)
  return `case when left(${number}, 2) in (${starts.join(', ')}) then ${folded} else ${number} end`
}

/** Spellings of a number differ at its beginning only. */
const commonDigits = 6

/** Whether WhatsApp can mean this number by `other`. If not, `other` is somebody else's. */
export function canBeOneNumber(number: string, other: string): boolean {
  return number.slice(-commonDigits) === other.slice(-commonDigits)
}

/** All spellings of a number that share its key: that of the key, and that with the extra digits. */
export function spellingsOf(recipient: string): string[] {
  const key = toNumberKey(recipient)
  const [, area, local] = shortBrazilian.exec(key) ?? []
  if (area !== undefined && local !== undefined) return [key, `${area}9${local}`]
  for (const { shorter, long } of countries) {
    const rest = shorter.exec(key)?.[1]
    if (rest !== undefined) return [key, long + rest]
  }
  return [key]
}

/** Earlier versions of Waybill did not shorten these numbers. */
const formerlyUnchanged = /^(54\d{10}|229\d{8})$/

/** The key of a recipient, first, and those under which earlier versions may have stored it. */
export function storedKeysOf(recipient: string): string[] {
  const key = toNumberKey(recipient)
  return formerlyUnchanged.test(key) ? spellingsOf(key) : [key]
}
