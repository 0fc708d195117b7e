import { firstIdAt, type IdPrefix } from '../../src/platform/ids.ts'

/** The number of digits that follow the time and version of a UUIDv7 in base32. */
export const numberDigits = 15

/**
 * The start of IDs that share a time and end in a number, so that SQL and another process can generate the same ones.
 */
export function numberedIdStart(prefix: IdPrefix, time: Date): string {
  // 7 is the version, and the next bit is 0.
  return `${firstIdAt(prefix, time).slice(0, -numberDigits - 1)}e`
}

export function numbered(start: string, number: number): string {
  return start + String(number).padStart(numberDigits, '0')
}

/** Accepted messages whose IDs are derived from a number. */
export interface NumberedMessages {
  count: number
  /** The prefix of the number. */
  idStart: string
  waMessageIdStart: string
}
