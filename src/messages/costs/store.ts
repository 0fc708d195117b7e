import { type Kysely, sql } from 'kysely'
import type { PricingCategory } from '../../../contracts/pricing.ts'
import type { Database } from '../../platform/db/schema.ts'
import { countsOf } from '../queries/counts-store.ts'
import type { Period } from '../queries/periods.ts'
import type { RateCard } from './rate-card.ts'

/** A rate card without its rates. */
export interface StoredCard {
  validFrom: string
  currency: string
  importedAt: Date
}

/** Oldest first. */
export function findCards(db: Kysely<Database>): Promise<StoredCard[]> {
  return db
    .selectFrom('rate_cards')
    .select([sql<string>`to_char(valid_from, 'YYYY-MM-DD')`.as('validFrom'), 'currency', 'imported_at as importedAt'])
    .orderBy('valid_from')
    .execute()
}

export interface StoredRate {
  validFrom: string
  country: string
  category: PricingCategory
  market: string
  micros: bigint
}

/** Finds the rates of the cards that are valid from these days on. */
export async function findRates(db: Kysely<Database>, days: readonly string[]): Promise<StoredRate[]> {
  const { rows } = await sql<Omit<StoredRate, 'micros'> & { micros: string }>`
    select to_char(valid_from, 'YYYY-MM-DD') as "validFrom", country, category, market, micros::text as micros
    from rates where valid_from = any(${days}::date[])
    order by valid_from, market, country, category`.execute(db)
  return rows.map((row) => ({ ...row, micros: BigInt(row.micros) }))
}

/** Waits for other imports, so that each import sees the currency of the previous one. */
export async function lockCards(trx: Kysely<Database>): Promise<StoredCard[]> {
  await sql`lock table rate_cards in share row exclusive mode`.execute(trx)
  return findCards(trx)
}

/** Rows per statement, far below PostgreSQL's limit of parameters. */
const rowsPerStatement = 1_000

export async function insertCards(trx: Kysely<Database>, cards: readonly RateCard[], importedAt: Date): Promise<void> {
  for (const { validFrom, currency, markets } of cards) {
    await trx.insertInto('rate_cards').values({ valid_from: validFrom, currency, imported_at: importedAt }).execute()
    const rows = markets.flatMap(({ name, countries, rates }) =>
      Object.entries(rates).flatMap(([category, micros]) =>
        countries.map((country) => ({
          valid_from: validFrom,
          country,
          category,
          market: name,
          micros: String(micros),
        })),
      ),
    )
    for (let start = 0; start < rows.length; start += rowsPerStatement)
      await trx
        .insertInto('rates')
        .values(rows.slice(start, start + rowsPerStatement))
        .execute()
  }
}

/** Deletes cards with their rates, and returns how many cards there were. */
export async function deleteCards(trx: Kysely<Database>, days: readonly string[]): Promise<number> {
  const { rows } = await sql`
    delete from rate_cards where valid_from = any(${days}::date[]) returning valid_from`.execute(trx)
  return rows.length
}

/** Delivered messages that have the same price. */
export interface Charge {
  /** The day from which their rate card is valid; empty if there is none. */
  validFrom: string
  /** ISO 3166; empty if it is not known. */
  country: string
  /** The price class that statuses reported (`toPriceClass`); empty if none did. */
  pricing: string
  count: number
}

/** The delivered messages of a period. `cardOfSlot`: the day from which the card of each slot is valid, or empty. */
export async function findCharges(
  db: Kysely<Database>,
  accountId: string,
  period: Period,
  cardOfSlot: readonly string[],
): Promise<Charge[]> {
  const { rows } = await sql<Charge>`
    select card as "validFrom", country, pricing, sum(count)::integer as count
    from (
      select (select ${cardOfSlot}::text[])[slot + 1] as card, country, pricing, count
      from (${countsOf(accountId, period)}) counted
      where status in ('delivered', 'read')
    ) charged
    group by card, country, pricing
    having sum(count) <> 0`.execute(db)
  return rows
}

/** The category of a template, in upper case; undefined if there is none of this name and language. */
export async function findCategory(
  db: Kysely<Database>,
  {
    accountId,
    whatsAppAccountId,
    name,
    language,
  }: Record<'accountId' | 'whatsAppAccountId' | 'name' | 'language', string>,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('templates')
    .innerJoin('whatsapp_accounts', (join) =>
      join
        .onRef('whatsapp_accounts.account_id', '=', 'templates.account_id')
        .onRef('whatsapp_accounts.waba_id', '=', 'templates.waba_id'),
    )
    .select('templates.category')
    .where('templates.account_id', '=', accountId)
    .where('whatsapp_accounts.id', '=', whatsAppAccountId)
    .where('templates.name', '=', name)
    .where('templates.language', '=', language)
    .executeTakeFirst()
  return row?.category ?? undefined
}
