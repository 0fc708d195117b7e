import { z } from 'zod'
import { PhoneNumber } from '../fields.ts'
import { Amount, CostEstimate, Currency, FreeReason, ReportedCategory } from '../pricing.ts'
import { dashboardProcedure, ofAccount } from '../procedure.ts'
import { periodFields } from './overview.ts'

const Count = z.int()

/** Delivered messages. */
export const Cost = z.object({
  /** Messages that WhatsApp charges for. */
  billable: Count,
  /** Messages that WhatsApp delivered free of charge. */
  free: Count,
  /** Billable messages without a rate: the amount lacks them. */
  unrated: Count,
  /** At the list rates; absent without a rate card. */
  amount: Amount.optional(),
})
export type Cost = z.infer<typeof Cost>

export const Costs = z.object({
  /** Of the rate cards; absent if none was imported. */
  currency: Currency.optional(),
  /** The days from which the rate cards of the period are valid. */
  rateCards: z.array(z.iso.date()),
  totals: Cost,
  /** Delivered messages for which WhatsApp reported no price. They are in no other number. */
  unpriced: Count,
  /** The highest amount first. They add up to the totals. */
  categories: z.array(Cost.extend({ category: ReportedCategory })),
  /** The highest amount first; ISO 3166, and empty if the country is not known. They add up to the totals. */
  countries: z.array(Cost.extend({ country: z.string() })),
  /** Why messages were free. They add up to the free messages. */
  freeReasons: z.array(z.object({ reason: FreeReason, count: Count })),
})
export type Costs = z.infer<typeof Costs>

/** From the counts of the overview: delivered messages by the day on which they were recorded. */
export const getCosts = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'What the messages of a period cost, by category and country',
  input: ofAccount(periodFields),
  output: Costs,
})

/** The categories of templates. */
const TemplateCategory = z.enum(['MARKETING', 'UTILITY', 'AUTHENTICATION'])

export const estimateCost = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'What a message to a number would cost',
  input: ofAccount({ to: PhoneNumber, category: TemplateCategory }),
  output: z.object({
    /** Absent if no rate card has a rate. */
    estimate: CostEstimate.optional(),
    /** Whether a rate card is valid today. */
    hasRateCard: z.boolean(),
  }),
})
