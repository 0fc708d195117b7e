import { callingCodes } from './db/migrations/0024-calling-codes.ts'

const countries = new Set(Object.values(callingCodes))

/** Whether messages can be counted for an ISO 3166 code. Territories that share a calling code count as its main country. */
export function isCountedCountry(code: string): boolean {
  return countries.has(code)
}

/** `own`: the calling codes of a country. `others`: longer codes of other countries that start with one of them. */
export function callingCodesOf(country: string): { own: string[]; others: string[] } {
  const codes = Object.entries(callingCodes)
  const own = codes.flatMap(([code, of]) => (of === country ? [code] : []))
  const others = codes.flatMap(([code, of]) =>
    of !== country && own.some((start) => code.startsWith(start)) ? [code] : [],
  )
  return { own, others }
}

/** The ISO 3166 code under which messages to a number are counted; undefined if no calling code matches. */
export function countryOf(number: string): string | undefined {
  for (const length of [4, 3, 2, 1]) {
    const country = callingCodes[number.slice(0, length)]
    if (country !== undefined) return country
  }
  return undefined
}
