import { type Kysely, sql } from 'kysely'
import { type CategoryCost, type PricingCategory, pricingCategories } from '../../../contracts/pricing.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Database } from '../../platform/db/schema.ts'
import { countsOf } from '../queries/counts-store.ts'
import { lastDays, type Period, readClock, toPeriod } from '../queries/periods.ts'
import { formatMicros } from './rate-card.ts'
import { findCards, findRates, type StoredRate } from './store.ts'

const days = 30

/**
 * What the delivered messages of a template in the last 30 days cost in its category, and would have cost in another one,
 * by today's rate card. Amounts are list prices: free entry windows and volume tiers are not known for another category.
 */
export async function readCategoryCost(
  db: Kysely<Database>,
  {
    accountId,
    template,
    category,
    newCategory,
  }: Record<'accountId' | 'template' | 'newCategory', string> & { category: string | null },
  now: Date,
): Promise<CategoryCost> {
  const { timeZone } = await requireAccount(db, accountId)
  const period = toPeriod(lastDays(now, days, timeZone), now, timeZone)
  const counts = await countByCountry(db, { accountId, template, period })
  const messages = counts.reduce((sum, { count }) => sum + count, 0)
  const { date } = readClock(now, timeZone)
  const card = (await findCards(db)).findLast(({ validFrom }) => validFrom <= date)
  if (!card) return { messages }
  const rates = await findRates(db, [card.validFrom])
  const amount = category === null ? undefined : addUp(counts, rates, category)
  const newAmount = addUp(counts, rates, newCategory)
  return {
    messages,
    ...(amount !== undefined && { amount }),
    ...(newAmount !== undefined && { newAmount }),
    currency: card.currency,
  }
}

interface CountryCount {
  country: string
  count: number
}

async function countByCountry(
  db: Kysely<Database>,
  { accountId, template, period }: { accountId: string; template: string; period: Period },
): Promise<CountryCount[]> {
  const { rows } = await sql<CountryCount>`
    select country, sum(count)::integer as count
    from (${countsOf(accountId, period)}) counted
    where template_name = ${template} and status in ('delivered', 'read')
    group by country
    having sum(count) > 0`.execute(db)
  return rows
}

/** Undefined if a country has no rate in this category. */
function addUp(counts: readonly CountryCount[], rates: readonly StoredRate[], category: string): string | undefined {
  const name = pricingCategories.find((known) => known === category.toLowerCase())
  if (name === undefined) return undefined
  let micros = 0n
  for (const { country, count } of counts) {
    const rate = findRate(rates, country, name)
    if (rate === undefined) return undefined
    micros += rate * BigInt(count)
  }
  return formatMicros(micros)
}

function findRate(rates: readonly StoredRate[], country: string, category: PricingCategory): bigint | undefined {
  // An unknown country can belong to any market.
  if (country === '') return undefined
  const own = rates.filter((rate) => rate.country === country)
  const market = own.length > 0 ? own : rates.filter((rate) => rate.country === '*')
  return market.find((rate) => rate.category === category)?.micros
}
