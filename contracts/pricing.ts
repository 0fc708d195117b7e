import { z } from 'zod'
import { namedObject } from './fields.ts'

/** WhatsApp's pricing categories, as named in statuses (Meta, "Pricing on the WhatsApp Business Platform"). */
export const pricingCategories = [
  'marketing',
  'utility',
  'authentication',
  'authentication_international',
  'service',
  'marketing_lite',
  'referral_conversion',
  'group_marketing',
  'group_utility',
  'group_service',
] as const
export type PricingCategory = (typeof pricingCategories)[number]

/** `other`: a category unknown to this version. */
export const ReportedCategory = z.enum([...pricingCategories, 'other'])
export type ReportedCategory = z.infer<typeof ReportedCategory>

/** Why WhatsApp charges nothing, as named in statuses. `free`: a reason unknown to this version. */
export const freeReasons = [
  'free_customer_service',
  'free_entry_point',
  'free_group_customer_service',
  'paid_exempt',
  'free',
] as const
export const FreeReason = z.enum(freeReasons)
export type FreeReason = z.infer<typeof FreeReason>

/** An exact decimal such as `0.0509`, because floating-point numbers would round amounts of money. */
export const Amount = z.string()

/** An ISO 4217 code. */
export const Currency = z.string()

export const CostEstimate = namedObject('CostEstimate', 'What WhatsApp is expected to charge for one message.', {
  amount: Amount.describe(
    'The list rate, charged when the message is delivered. WhatsApp may charge less, or nothing.',
  ),
  currency: Currency.describe('ISO 4217 code of the rate card.'),
  category: z.enum(pricingCategories).describe('Pricing category of the template.'),
  market: z.string().describe("The rate card's market of the recipient."),
  rateCardDate: z.iso.date().describe('First day on which the rate card is valid.'),
  internationalAmount: Amount.optional().describe(
    'Rate if WhatsApp counts the message as authentication-international. Present only if the rate card has such a rate for the market.',
  ),
})
export type CostEstimate = z.infer<typeof CostEstimate>

/** What a template cost in its category, and would have cost in another one. */
export const CategoryCost = z
  .object({
    messages: z.int().describe('Delivered messages of the template in the last 30 days, in all its languages.'),
    amount: Amount.optional().describe(
      'Their list price in the current category; absent without a rate for all of them.',
    ),
    newAmount: Amount.optional().describe(
      'Their list price in the announced category; absent without a rate for all of them.',
    ),
    currency: Currency.optional().describe('ISO 4217 code of the rate card; absent without a rate card.'),
  })
  .describe('What the last 30 days would have cost in the announced category.')
export type CategoryCost = z.infer<typeof CategoryCost>
