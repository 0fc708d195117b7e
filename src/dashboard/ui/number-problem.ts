import { plural, t } from '@lingui/core/macro'
import { phoneNumberDigits } from '../../../contracts/fields.ts'
import { withoutPunctuation } from './phone-number.ts'

/**
 * In a file of its own, because the first page loads phone-number.ts, and not zod, which the contracts of fields need.
 *
 * What to change in a typed number, so that it is one with a country code; undefined if it can be. The server knows how
 * many digits the numbers of each country have.
 */
export function findNumberProblem(typed: string): string | undefined {
  const digits = withoutPunctuation(typed)
  if (digits === '') return t`Enter your phone number.`
  if (/\D/.test(digits)) return describeOtherCharacters(typed)
  if (/^00[1-9]/.test(digits)) return t`Write + in place of 00: +${digits.slice(2)}.`
  if (digits.startsWith('0')) return t`Write the country code in place of the 0 at the start, such as +34 for Spain.`
  const { min, max } = phoneNumberDigits
  if (digits.length < min)
    return t`This number has only ${plural(digits.length, { one: '# digit', other: '# digits' })}. Enter all of it, with the country code.`
  if (digits.length > max) return t`This number has ${digits.length} digits, but no number has more than ${max}.`
  return undefined
}

function describeOtherCharacters(typed: string): string {
  if (typed.includes('(0)')) return t`Remove the (0), which is only dialled within the country.`
  return t`Enter one number with digits only, without an extension.`
}
