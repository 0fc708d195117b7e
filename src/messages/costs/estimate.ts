import type { z } from 'zod'
import type { estimateCost as contract } from '../../../contracts/dashboard/cost.ts'
import { type CostEstimate, type PricingCategory, pricingCategories } from '../../../contracts/pricing.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { countryOf } from '../../platform/countries.ts'
import { isPossibleNumber } from '../../platform/number-lengths.ts'
import { readClock } from '../queries/periods.ts'
import { formatMicros } from './rate-card.ts'
import { findCards, findCategory, findRates, type StoredCard, type StoredRate } from './store.ts'

type Result = z.output<(typeof contract)['output']>

/** Uses today's rate card, in the account's time zone. */
export async function estimateCost(
  deps: Pick<Deps, 'db' | 'now'>,
  { accountId, to, category }: { accountId: string; to: string; category?: string | undefined },
): Promise<Result> {
  const card = await findCardOfToday(deps, accountId)
  const hasRateCard = card !== undefined
  if (!isPossibleNumber(to)) return { hasRateCard, isIncomplete: true }
  const country = countryOf(to)
  const estimate = card && category !== undefined ? await estimateWith(deps, card, { to, category }) : undefined
  return { hasRateCard, ...(country !== undefined && { country }), ...(estimate && { estimate }) }
}

type Card = Pick<StoredCard, 'validFrom' | 'currency'>

async function findCardOfToday({ db, now }: Pick<Deps, 'db' | 'now'>, accountId: string): Promise<Card | undefined> {
  const cards = await findCards(db)
  if (cards.length === 0) return undefined
  const { timeZone } = await requireAccount(db, accountId)
  const { date } = readClock(now(), timeZone)
  return cards.findLast(({ validFrom }) => validFrom <= date)
}

async function estimateWith(
  { db }: Pick<Deps, 'db'>,
  { validFrom, currency }: Card,
  { to, category }: { to: string; category: string },
): Promise<CostEstimate | undefined> {
  return toEstimate(await findRates(db, [validFrom]), { to, category, currency })
}

/** `rates`: those of one card. `category`: that of a template, in upper case. */
export function toEstimate(
  rates: readonly StoredRate[],
  { to, category, currency }: { to: string; category: string; currency: string },
): CostEstimate | undefined {
  const country = countryOf(to)
  const name = pricingCategories.find((known) => known === category.toLowerCase())
  if (country === undefined || name === undefined) return undefined
  const own = rates.filter((rate) => rate.country === country)
  const market = own.length > 0 ? own : rates.filter((rate) => rate.country === '*')
  const find = (wanted: PricingCategory) => market.find((rate) => rate.category === wanted)
  const rate = find(name)
  if (!rate) return undefined
  const international = name === 'authentication' ? find('authentication_international') : undefined
  return {
    amount: formatMicros(rate.micros),
    currency,
    category: name,
    market: rate.market,
    rateCardDate: rate.validFrom,
    ...(international && { internationalAmount: formatMicros(international.micros) }),
  }
}

/** Estimates the cost of a send from the category of its template. */
export async function estimateSend(
  deps: Pick<Deps, 'db' | 'now'>,
  send: { accountId: string; whatsAppAccountId: string; to: string; template: string; language: string },
): Promise<CostEstimate | undefined> {
  const card = await findCardOfToday(deps, send.accountId)
  if (!card) return undefined
  const category = await findCategory(deps.db, { ...send, name: send.template })
  return category === undefined ? undefined : estimateWith(deps, card, { to: send.to, category })
}
