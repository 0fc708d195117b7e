import type { ReportedCategory } from '../../../contracts/pricing.ts'

/**
 * `0.0509` as `€0.0509`, with cents at least; amounts of ten and more are rounded to cents. The decimal never becomes a
 * floating-point number.
 */
export function describeAmount(amount: string, currency: string): string {
  const maximumFractionDigits = /^\d(\.|$)/.test(amount) ? 6 : 2
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits })
  // An exact decimal, which the type of `format` describes as a template.
  return format.format(amount as `${number}`)
}

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })

/** The first day of a rate card, such as `Oct 1, 2026`. */
export function describeCardDate(date: string): string {
  return day.format(new Date(date))
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
