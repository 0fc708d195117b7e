import { type MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { translate } from '../language/i18n.ts'
import { numberFormat } from '../language/format.ts'
import type { ReportedCategory } from '../../../contracts/pricing.ts'

const smallAmount = 0.1
const preciseDigits = 4

/** `5.7086` as `€5.71`, and `0.0509` as `€0.0509`, because cents are too coarse for small amounts. */
export function describeAmount(amount: string, currency: string): string {
  return format(amount, currency, Math.abs(Number(amount)) < smallAmount)
}

/** `0.1131` as `€0.1131`, because prices per message differ by fractions of a cent. */
export function describePrice(amount: string, currency: string): string {
  return format(amount, currency, Math.abs(Number(amount)) < 1)
}

/** Formats the decimal string directly, without converting it to a floating-point number. */
function format(amount: string, currency: string, isPrecise: boolean): string {
  const options = { style: 'currency', currency, ...(isPrecise && { maximumFractionDigits: preciseDigits }) } as const
  // `format` accepts decimal strings, typed as a template literal.
  return numberFormat(options).format(amount as `${number}`)
}

const categoryNames = {
  marketing: msg`Marketing`,
  utility: msg`Utility`,
  authentication: msg`Authentication`,
  authentication_international: msg`Authentication, international`,
  service: msg`Service`,
  marketing_lite: msg`Marketing Messages API`,
  referral_conversion: msg`Referral conversion`,
  group_marketing: msg`Group marketing`,
  group_utility: msg`Group utility`,
  group_service: msg`Group service`,
  other: msg`Unknown category`,
} satisfies Record<ReportedCategory, MessageDescriptor>

export function describeCategory(category: ReportedCategory): string {
  return translate(categoryNames[category])
}
