import { t } from '@lingui/core/macro'
import { formatNumber } from '../language/format.ts'

export interface NumberRange {
  min: number
  max: number
}

/** The value of a number field: a string if it is empty or not a plain number. */
export type TypedNumber = number | string

/** Undefined if the field does not contain a whole number in the range. */
export function readWholeNumber(typed: TypedNumber, { min, max }: NumberRange): number | undefined {
  const value = typeof typed === 'number' || /^\d+$/.test(typed) ? Number(typed) : undefined
  return value !== undefined && Number.isInteger(value) && value >= min && value <= max ? value : undefined
}

/** The problem of a required number field, or null. */
export function checkWholeNumber(typed: TypedNumber, range: NumberRange): string | null {
  if (readWholeNumber(typed, range) !== undefined) return null
  return t`Enter a whole number from ${formatNumber(range.min)} to ${formatNumber(range.max)}.`
}
