import type { ReportedCategory } from '../../../contracts/pricing.ts'

/** `0.0509` as `€0.0509`, with cents at least. Exact: the decimal never becomes a number. */
export function describeAmount(amount: string, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 6 })
  // An exact decimal, which the type of `format` describes as a template.
  return format.format(amount as `${number}`)
}

const categoryNames = {
  marketing: 'Marketing',
  utility: 'Utility',
  authentication: 'Authentication',
  authentication_international: 'Authentication, international',
  service: 'Service',
  marketing_lite: 'Marketing Messages API',
  referral_conversion: 'Referral conversion',
  group_marketing: 'Group marketing',
  group_utility: 'Group utility',
  group_service: 'Group service',
  other: 'Unknown category',
} satisfies Record<ReportedCategory, string>

export function describeCategory(category: ReportedCategory): string {
  return categoryNames[category]
}
