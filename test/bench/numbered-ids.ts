import { firstIdAt, type IdPrefix } from '../../src/platform/ids.ts'

/** Of the digits that follow the time and the version of a UUIDv7 in base32. */
export const numberDigits = 15

/** Ids of one moment that differ in a number, so that SQL and another process can tell them too. */
export function numberedIdStart(prefix: IdPrefix, time: Date): string {
  // 7 is the version, and the next bit is 0.
  return `${firstIdAt(prefix, time).slice(0, -numberDigits - 1)}e`
}

export function numbered(start: string, number: number): string {
  return start + String(number).padStart(numberDigits, '0')
}
