import { pricingCategories, freeReasons } from '../../../contracts/pricing.ts'

/** The `pricing` of a status, in Meta's terms (reference, section 4.3). */
export interface StatusPricing {
  billable?: boolean | undefined
  type?: string | undefined
  category?: string | undefined
  subtype?: string | undefined
}

const knownCategories = new Set<string>(pricingCategories)
const knownReasons = new Set<string>(freeReasons)

/**
 * Returns the category if the message is charged, such as `utility`, or the category and the reason if it is free, such
 * as `utility/free_entry_point`. Meta adds categories and reasons at any time. Unknown ones share a name, so that the
 * number of counters stays bounded.
 */
export function toPriceClass({ billable, type, category, subtype }: StatusPricing): string | undefined {
  if (category === undefined) return undefined
  const name = category.toLowerCase().replaceAll('-', '_')
  const known = knownCategories.has(name) ? name : 'other'
  if (subtype === 'paid_exempt') return `${known}/${subtype}`
  // Meta announced that it will remove `billable`, so `type` decides. A message of the Marketing Messages API has none.
  const isCharged = type === undefined ? (billable ?? true) : !type.startsWith('free_')
  if (isCharged) return known
  return `${known}/${type !== undefined && knownReasons.has(type) ? type : 'free'}`
}
