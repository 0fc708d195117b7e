import { z } from 'zod'
import { pricingCategories } from '../pricing.ts'
import { commandProcedure } from '../procedure.ts'

// Rate cards apply to all accounts, so no audit log has their changes.

export const importRates = commandProcedure({
  kind: 'mutation',
  input: z.strictObject({
    /** The CSV file. */
    text: z.string(),
    /** Whether cards that are valid from the same day on are replaced. */
    replace: z.boolean().default(false),
  }),
  output: z.object({
    imported: z.array(z.object({ validFrom: z.string(), currency: z.string(), markets: z.int() })),
  }),
  audit: 'nothing',
})

const RateCardSummary = z.object({
  validFrom: z.string(),
  /** The last day; absent for the last card. */
  validUntil: z.string().optional(),
  currency: z.string(),
  importedAt: z.string(),
})
export type RateCardSummary = z.infer<typeof RateCardSummary>

export const listRates = commandProcedure({
  kind: 'query',
  output: z.object({ items: z.array(RateCardSummary) }),
})

const MarketRates = z.object({
  market: z.string(),
  /** ISO 3166 codes; `*` for all countries without a market of their own. */
  countries: z.array(z.string()),
  /** Decimals, such as `0.0509`. */
  rates: z.partialRecord(z.enum(pricingCategories), z.string()),
})

const RateCardWithMarkets = RateCardSummary.extend({ markets: z.array(MarketRates) })
export type RateCardWithMarkets = z.infer<typeof RateCardWithMarkets>

export const getRates = commandProcedure({
  kind: 'query',
  input: z.strictObject({ validFrom: z.string() }),
  output: RateCardWithMarkets,
})

export const removeRates = commandProcedure({
  kind: 'mutation',
  input: z.strictObject({ validFrom: z.string() }),
  output: z.object({ removed: z.string() }),
  audit: 'nothing',
})
