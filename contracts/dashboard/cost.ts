import { z } from 'zod'
import { PhoneNumber } from '../fields.ts'
import { Amount, CostEstimate, Currency, FreeReason, ReportedCategory } from '../pricing.ts'
import { accountInput, viewerQuery } from '../procedure.ts'
import { periodFields } from './overview.ts'

const Count = z.int()

/** The cost of delivered messages. */
export const Cost = z.object({
  /** Messages that WhatsApp charges for. */
  billable: Count,
  /** Messages that WhatsApp delivered free of charge. */
  free: Count,
  /** Billable messages without a rate, which the amount does not include. */
  unrated: Count,
  /** At the list rates; absent without a rate card. */
  amount: Amount.optional(),
})
export type Cost = z.infer<typeof Cost>

export const Costs = z.object({
  /** Currency of the rate cards; absent if none was imported. */
  currency: Currency.optional(),
  /** First days of validity of the rate cards that apply to the period. */
  rateCards: z.array(z.iso.date()),
  totals: Cost,
  /** Delivered messages for which WhatsApp reported no price. No other number includes them. */
  unpriced: Count,
  /** Highest amount first. The sum equals the totals. */
  categories: z.array(Cost.extend({ category: ReportedCategory })),
  /** Highest amount first. ISO 3166 codes; empty if the country is unknown. The sum equals the totals. */
  countries: z.array(Cost.extend({ country: z.string() })),
  /** Why messages were free. The sum equals the number of free messages. */
  freeReasons: z.array(z.object({ reason: FreeReason, count: Count })),
})
export type Costs = z.infer<typeof Costs>

/** Uses the counts of the overview, which assign messages to the day on which they were recorded. */
export const getCosts = viewerQuery({
  summary: 'What the messages of a period cost, by category and country',
  input: accountInput(periodFields),
  output: Costs,
})

/** The categories of templates. */
const TemplateCategory = z.enum(['MARKETING', 'UTILITY', 'AUTHENTICATION'])

export const estimateCost = viewerQuery({
  summary: 'The country of a number, and what a message to it would cost',
  input: accountInput({ to: PhoneNumber, category: TemplateCategory.optional() }),
  output: z.object({
    /** ISO 3166 code of the number's country; absent if it is unknown or the number cannot be complete. */
    country: z.string().optional(),
    /** Absent if no rate card has a rate, or there is no category. */
    estimate: CostEstimate.optional(),
    /** Whether a rate card is valid today. */
    hasRateCard: z.boolean(),
    /** Present if the number cannot be complete, so that its first digits say nothing about its country. */
    isIncomplete: z.literal(true).optional(),
  }),
})
