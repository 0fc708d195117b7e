import type { z } from 'zod'
import type { Cost, Costs, getCosts as contract } from '../../../contracts/dashboard/cost.ts'
import type { FreeReason, ReportedCategory } from '../../../contracts/pricing.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { choosePeriod } from '../queries/overview.ts'
import { formatMicros } from './rate-card.ts'
import { type Charge, findCards, findCharges, findRates, type StoredRate } from './store.ts'

/** Returns the day from which the rate card for `date` is valid; undefined if there is none. `days` must be sorted. */
function chooseCard(days: readonly string[], date: string): string | undefined {
  return days.findLast((day) => day <= date)
}

type FindRate = (charge: Pick<Charge, 'validFrom' | 'country'>, category: string) => bigint | undefined

function rateKey(validFrom: string, country: string, category: string): string {
  return `${validFrom} ${country} ${category}`
}

function indexRates(rates: readonly StoredRate[]): FindRate {
  const micros = new Map(rates.map((rate) => [rateKey(rate.validFrom, rate.country, rate.category), rate.micros]))
  // `*` is for countries without a market of their own.
  const named = new Set(rates.map(({ validFrom, country }) => `${validFrom} ${country}`))
  return ({ validFrom, country }, category) => {
    // An unknown country can belong to any market.
    if (country === '') return undefined
    const market = named.has(`${validFrom} ${country}`) ? country : '*'
    const rate = micros.get(rateKey(validFrom, market, category))
    // Meta charges the marketing rate for messages of the Marketing Messages API, and lists no other.
    return rate ?? (category === 'marketing_lite' ? micros.get(rateKey(validFrom, market, 'marketing')) : undefined)
  }
}

interface Part {
  country: string
  category: ReportedCategory
  /** Undefined if the messages are billable. */
  reason: FreeReason | undefined
  count: number
  /** Total; undefined if there is no rate. */
  micros: bigint | undefined
}

function toPart({ count, ...charge }: Charge, findRate: FindRate): Part {
  // Written by `toPriceClass`, which uses only these values.
  const [category, reason] = charge.pricing.split('/') as [ReportedCategory, FreeReason?]
  const rate = reason === undefined ? findRate(charge, category) : undefined
  return { country: charge.country, category, reason, count, micros: rate && rate * BigInt(count) }
}

interface Sum extends Omit<Cost, 'amount'> {
  micros: bigint
}

function addUp(parts: readonly Part[]): Sum {
  const sum = { billable: 0, free: 0, unrated: 0, micros: 0n }
  for (const { reason, count, micros } of parts) {
    sum[reason === undefined ? 'billable' : 'free'] += count
    if (reason === undefined && micros === undefined) sum.unrated += count
    sum.micros += micros ?? 0n
  }
  return sum
}

/** Computes the costs of delivered messages. `rates`: those of all cards that the charges refer to. */
export function toCosts(
  charges: readonly Charge[],
  { rates, currency }: { rates: readonly StoredRate[]; currency: string | undefined },
): Costs {
  const findRate = indexRates(rates)
  const parts = charges.filter(({ pricing }) => pricing !== '').map((charge) => toPart(charge, findRate))
  const show = ({ micros, ...sum }: Sum): Cost => ({
    ...sum,
    ...(currency !== undefined && { amount: formatMicros(micros) }),
  })
  const groupBy = <Key extends string>(keyOf: (part: Part) => Key) =>
    [...Map.groupBy(parts, keyOf)]
      .map(([key, ofKey]) => ({ key, sum: addUp(ofKey) }))
      .toSorted((a, b) => compare(a.sum, b.sum) || (a.key < b.key ? -1 : 1))
  const unpriced = charges.filter(({ pricing }) => pricing === '')
  const free = Map.groupBy(parts, ({ reason }) => reason)
  return {
    ...(currency !== undefined && { currency }),
    rateCards: [...new Set(rates.map(({ validFrom }) => validFrom))].toSorted(),
    totals: show(addUp(parts)),
    unpriced: countAll(unpriced),
    categories: groupBy(({ category }) => category).map(({ key, sum }) => ({ category: key, ...show(sum) })),
    countries: groupBy(({ country }) => country).map(({ key, sum }) => ({ country: key, ...show(sum) })),
    freeReasons: [...free]
      .flatMap(([reason, of]) => (reason === undefined ? [] : [{ reason, count: countAll(of) }]))
      .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)),
  }
}

function countAll(counted: readonly { count: number }[]): number {
  return counted.reduce((sum, { count }) => sum + count, 0)
}

/** The highest amount first, then the most messages. */
function compare(a: Sum, b: Sum): number {
  if (a.micros !== b.micros) return a.micros > b.micros ? -1 : 1
  return b.billable - a.billable || b.free - a.free
}

/** Uses the period and the counts of the overview. */
export async function getCosts(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  { accountId, ...input }: z.output<(typeof contract)['input']>,
): Promise<Costs> {
  const { timeZone } = await requireAccount(db, accountId)
  const period = choosePeriod(input, now(), timeZone)
  const cards = await findCards(db)
  const days = cards.map(({ validFrom }) => validFrom)
  const cardOfSlot = period.slots.map(({ date }) => chooseCard(days, date) ?? '')
  const used = [...new Set(cardOfSlot)].filter((day) => day !== '')
  const [charges, rates] = await Promise.all([
    findCharges(db, accountId, period, cardOfSlot),
    used.length === 0 ? [] : findRates(db, used),
  ])
  return toCosts(charges, { rates, currency: cards[0]?.currency })
}
