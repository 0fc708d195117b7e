import { endpointLimits } from '../../../../contracts/dashboard/webhook.ts'
import { checkWholeNumber, type NumberRange, readWholeNumber, type TypedNumber } from '../../ui/whole-number.ts'

/** An empty field means no limit. */
export interface LimitValues {
  maxPerSecond: TypedNumber
  maxConcurrent: TypedNumber
}

export const limitRanges = {
  maxPerSecond: { min: 1, max: endpointLimits.maxPerSecond },
  maxConcurrent: { min: 1, max: endpointLimits.maxConcurrent },
} satisfies Record<keyof LimitValues, NumberRange>

/** Form validation of the limits. */
export const limitChecks = {
  maxPerSecond: (typed: TypedNumber) => (typed === '' ? null : checkWholeNumber(typed, limitRanges.maxPerSecond)),
  maxConcurrent: (typed: TypedNumber) => (typed === '' ? null : checkWholeNumber(typed, limitRanges.maxConcurrent)),
}

/** Reads the limits from validated fields; undefined means no limit. */
export function readLimits({ maxPerSecond, maxConcurrent }: LimitValues) {
  return {
    maxPerSecond: readWholeNumber(maxPerSecond, limitRanges.maxPerSecond),
    maxConcurrent: readWholeNumber(maxConcurrent, limitRanges.maxConcurrent),
  }
}
