import { dayMilliseconds } from '../../../contracts/time.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { RateCardSummary, RateCardWithMarkets } from '../../../contracts/command-line/rates.ts'
import { pricingCategories } from '../../../contracts/pricing.ts'
import type { Deps } from '../../deps.ts'
import { formatMicros, parseRateCards, type Problem, type RateCard } from './rate-card.ts'
import { deleteCards, findCards, findRates, insertCards, lockCards, type StoredCard } from './store.ts'

function toSummary({ validFrom, currency, importedAt }: StoredCard, next: StoredCard | undefined): RateCardSummary {
  return {
    validFrom,
    ...(next && { validUntil: dayBefore(next.validFrom) }),
    currency,
    importedAt: importedAt.toISOString(),
  }
}

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - dayMilliseconds).toISOString().slice(0, 10)
}

/** Oldest first. */
export async function listRateCards({ db }: Pick<Deps, 'db'>): Promise<RateCardSummary[]> {
  const cards = await findCards(db)
  return cards.map((card, index) => toSummary(card, cards[index + 1]))
}

export async function getRateCard({ db }: Pick<Deps, 'db'>, validFrom: string): Promise<RateCardWithMarkets> {
  const card = (await listRateCards({ db })).find((card) => card.validFrom === validFrom)
  if (!card) throw cardNotFound(validFrom)
  const byMarket = Map.groupBy(await findRates(db, [validFrom]), ({ market }) => market)
  const markets = [...byMarket].map(([market, rates]) => ({
    market,
    countries: [...new Set(rates.map(({ country }) => country))],
    rates: Object.fromEntries(
      pricingCategories.flatMap((category) => {
        const rate = rates.find((each) => each.category === category)
        return rate ? [[category, formatMicros(rate.micros)]] : []
      }),
    ),
  }))
  return { ...card, markets }
}

function cardNotFound(validFrom: string): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no rate card that is valid from ${JSON.stringify(validFrom)} on.`, {
    remedy: 'List the rate cards: waybill rates list',
  })
}

export async function removeRateCard({ db }: Pick<Deps, 'db'>, validFrom: string): Promise<void> {
  const isKnown = (await findCards(db)).some((card) => card.validFrom === validFrom)
  if (!isKnown || (await deleteCards(db, [validFrom])) === 0) throw cardNotFound(validFrom)
}

/** Imports all cards of a file, or none of them. */
export async function importRateCards(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  text: string,
  { replace = false }: { replace?: boolean | undefined } = {},
): Promise<RateCard[]> {
  const parsed = parseRateCards(text)
  if ('problems' in parsed) throw toError(parsed.problems, parsed.more)
  const { cards } = parsed
  const days = cards.map(({ validFrom }) => validFrom)
  await db.transaction().execute(async (trx) => {
    const known = await lockCards(trx)
    const overlapping = known.filter(({ validFrom }) => days.includes(validFrom))
    if (overlapping.length > 0 && !replace)
      throw new ServiceError(
        'SETTING_REFUSED',
        `There are already rates from ${overlapping.map(({ validFrom }) => validFrom).join(', ')} on.`,
        { remedy: 'To replace them, repeat the command with --replace.' },
      )
    const other = known.find((card) => !overlapping.includes(card) && card.currency !== cards[0]?.currency)
    if (other)
      throw new ServiceError(
        'SETTING_REFUSED',
        `The rate card from ${other.validFrom} on is in ${other.currency}, and the file is in ${cards[0]?.currency}. All rate cards must have one currency.`,
        { remedy: 'Remove the others first: waybill rates remove' },
      )
    await deleteCards(trx, days)
    await insertCards(trx, cards, now())
  })
  return cards
}

function toError(problems: readonly Problem[], more: number): ServiceError {
  const lines = problems.map(({ line, reason }) => `  line ${line}: ${reason}`)
  const rest = more === 0 ? [] : [`  and ${more} more.`]
  return new ServiceError(
    'SETTING_REFUSED',
    ['The rate card is invalid, and nothing was imported:', ...lines, ...rest].join('\n'),
  )
}
