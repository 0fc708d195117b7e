import { type Kysely, sql } from 'kysely'
import { freeReasons } from '../../contracts/pricing.ts'
import { dayMilliseconds } from '../../contracts/time.ts'
import type { Deps } from '../deps.ts'
import type { Database, StoredReach } from '../platform/db/schema.ts'
import { firstIdAt } from '../platform/ids.ts'
import { claimBatches } from '../platform/process-due.ts'
import { logFindings } from '../whatsapp-accounts/health/facts.ts'
import { limitedPattern } from '../whatsapp-accounts/health/messaging-limit.ts'
import type { WhatsAppAccountRef } from '../whatsapp-accounts/store.ts'
import { numberKeySql } from './suppressions/number-key.ts'

const nextSeconds = 60
/** Twice the largest limit, and few enough that a count takes seconds at most on a small machine. */
const maxScanned = 200_000
/** A count waits longer the more it reads, so that counting takes a small share of the time. */
const scannedPerSecond = 1000
const maxClaimed = 20

type CountDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl' | 'graphVersion'>

/**
 * Counts how many people the numbers of each business portfolio with a messaging limit addressed in the last 24 hours.
 * Sends neither wait for this nor write anything for it. Returns the number of portfolios.
 */
export async function countReach(deps: CountDeps, stopping?: AbortSignal): Promise<number> {
  let counted = 0
  const claim = () => claimDuePortfolios(deps.db, { limit: maxClaimed, nextSeconds })
  for await (const due of claimBatches(claim, stopping)) {
    for (const portfolioId of due)
      // One with very many messages must not stop those of others.
      await countPortfolio(deps, portfolioId).catch((error: unknown) =>
        deps.log.warn({ err: error, portfolioId }, 'could not count the people that a business portfolio addressed'),
      )
    counted += due.length
  }
  return counted
}

async function countPortfolio(deps: CountDeps, portfolioId: string): Promise<void> {
  const now = deps.now()
  const numbers = await findNumbersOfPortfolio(deps.db, portfolioId)
  if (numbers.length === 0) return
  const { people, byNumber, scanned, isComplete } = await countPeople(deps.db, numbers, {
    firstId: firstIdAt('msg', new Date(now.getTime() - dayMilliseconds)),
    firstEventId: firstIdAt('evt', new Date(now.getTime() - 2 * dayMilliseconds)),
    maxScanned,
  })
  const reach = { people, isComplete, countedAt: now.toISOString() }
  await saveReach(
    deps.db,
    numbers.map((ref) => ({ ...ref, reach: { ...reach, byNumber: byNumber.get(ref.whatsAppAccountId) ?? 0 } })),
    nextSeconds + Math.floor(scanned / scannedPerSecond),
  )
  await logFindings(deps, numbers)
}

/** A number that is unknown to a portfolio is counted with its WhatsApp Business Account. */
const portfolioOf = sql`coalesce(w.portfolio_id, w.waba_id)`

/**
 * Claims numbers with a messaging limit whose people are to be counted, so that only one of several nodes counts them, and
 * returns their portfolios. Reads all accounts.
 */
async function claimDuePortfolios(
  db: Kysely<Database>,
  { limit, nextSeconds }: { limit: number; nextSeconds: number },
): Promise<string[]> {
  const { rows } = await sql<{ portfolioId: string }>`
    with due as (
      select h.whatsapp_account_id from whatsapp_account_health h
      where h.next_reach_at <= now() and h.messaging_limit ~ ${limitedPattern}
      order by h.next_reach_at limit ${limit} for update skip locked
    )
    update whatsapp_account_health h set next_reach_at = now() + ${nextSeconds} * interval '1 second'
    from due join whatsapp_accounts w on w.id = due.whatsapp_account_id
    where h.whatsapp_account_id = due.whatsapp_account_id
    returning ${portfolioOf} as "portfolioId"`.execute(db)
  return [...new Set(rows.map(({ portfolioId }) => portfolioId))]
}

/** The numbers of a portfolio, of all accounts: they share its limit. */
async function findNumbersOfPortfolio(db: Kysely<Database>, portfolioId: string): Promise<WhatsAppAccountRef[]> {
  const { rows } = await sql<WhatsAppAccountRef>`
    select w.account_id as "accountId", w.id as "whatsAppAccountId"
    from whatsapp_accounts w
    where w.portfolio_id = ${portfolioId} or (w.portfolio_id is null and w.waba_id = ${portfolioId})
    order by w.account_id, w.id`.execute(db)
  return rows
}

/** Reasons for which a message cannot have begun a conversation: its recipient had a window open. */
const inWindow = freeReasons.filter((reason) => reason !== 'paid_exempt' && reason !== 'free')

export interface PeopleCount {
  people: number
  byNumber: ReadonlyMap<string, number>
  /** Messages that were read. */
  scanned: number
  isComplete: boolean
}

interface CountRange {
  firstId: string
  /** The first event ID of the day before, whose replies still count. */
  firstEventId: string
  maxScanned: number
}

interface CountRow {
  /** Null: of all numbers. */
  whatsAppAccountId: string | null
  people: number
  scanned: number
  largest: number
}

/**
 * Counts the people whom these numbers addressed since `firstId`, the newest `maxScanned` messages of each account. Each
 * person counts once, whichever number and spelling was addressed; WhatsApp's own spelling is known once a status arrived.
 * Messages that WhatsApp rejected or did not deliver do not count, and neither do those in an open window: those that it
 * priced so, and those to people who replied to this number less than a day before.
 */
export async function countPeople(
  db: Kysely<Database>,
  numbers: readonly WhatsAppAccountRef[],
  range: CountRange,
): Promise<PeopleCount> {
  const { rows } = await countStatement(numbers, range).execute(db)
  const total = rows.find(({ whatsAppAccountId }) => whatsAppAccountId === null)
  return {
    people: total?.people ?? 0,
    byNumber: new Map(
      rows.flatMap(({ whatsAppAccountId, people }) =>
        whatsAppAccountId === null ? [] : [[whatsAppAccountId, people] as const],
      ),
    ),
    scanned: total?.scanned ?? 0,
    isComplete: (total?.largest ?? 0) < range.maxScanned,
  }
}

/** Also for the test that explains it on a large table. */
export function countStatement(
  numbers: readonly WhatsAppAccountRef[],
  { firstId, firstEventId, maxScanned }: CountRange,
) {
  return sql<CountRow>`
    with number as (
      select * from unnest(
        ${sql.val(numbers.map(({ accountId }) => accountId))}::text[],
        ${sql.val(numbers.map(({ whatsAppAccountId }) => whatsAppAccountId))}::text[]
      ) as n (account_id, id)
    ), reply as (
      select m.account_id, m.whatsapp_account_id, coalesce(m.wa_id, m.to_number) as name, array_agg(e.created_at) as at
      from (select distinct account_id from number) a
      cross join lateral (
        select message_id, created_at from events
        where account_id = a.account_id and id >= ${firstEventId} and type = 'message.replied'
        order by id desc limit ${maxScanned}
      ) e
      -- Each by its key: joined at once, PostgreSQL would read whole partitions.
      cross join lateral (
        select account_id, whatsapp_account_id, wa_id, to_number from messages
        where account_id = a.account_id and id = e.message_id offset 0
      ) m
      group by 1, 2, 3
    ), scanned as materialized (
      -- One row for each name, so that the messages are read once and not kept.
      select m.account_id, m.whatsapp_account_id, m.name, count(*) as count, bool_or(
        m.status in ('sent', 'delivered', 'read')
        and coalesce(split_part(m.pricing, '/', 2), '') <> all (${sql.val(inWindow)}::text[])
        and (r.at is null or not exists (
          select from unnest(r.at) as replied (at)
          where replied.at <= m.recorded_at and replied.at > m.recorded_at - interval '24 hours'
        ))
      ) as is_addressed
      from (select distinct account_id from number) a
      cross join lateral (
        select account_id, whatsapp_account_id, status, pricing, recorded_at, coalesce(wa_id, to_number) as name
        from messages where account_id = a.account_id and id >= ${firstId} order by id desc limit ${maxScanned}
      ) m
      left join reply r on r.account_id = m.account_id and r.whatsapp_account_id = m.whatsapp_account_id and r.name = m.name
      group by 1, 2, 3
    ), addressed as (
      select m.account_id, m.whatsapp_account_id, m.name
      from scanned m join number n on n.account_id = m.account_id and n.id = m.whatsapp_account_id
      where m.is_addressed
    ), person as materialized (
      select whatsapp_account_id, ${sql.raw(numberKeySql('name'))} as person
      from addressed where name not like '__.%'
      union
      -- A user ID whose number is known is the person of that number.
      select m.whatsapp_account_id, ${sql.raw(numberKeySql('coalesce(i.person, m.name)'))}
      from addressed m
      left join recipient_identities i on i.account_id = m.account_id and i.identity = m.name
      where m.name like '__.%'
    ), size as (
      select coalesce(sum(count), 0)::integer as scanned, coalesce(max(count), 0)::integer as largest
      from (select sum(count) as count from scanned group by account_id) c
    )
    select whatsapp_account_id as "whatsAppAccountId", count(*)::integer as people, 0 as scanned, 0 as largest
    from person group by 1
    union all
    select null, (select count(*)::integer from (select distinct person from person) p), scanned, largest from size`
}

/** Stores the counts of a portfolio. Rows are locked in the order of callbacks. Each row names its own account. */
async function saveReach(
  db: Kysely<Database>,
  counted: readonly (WhatsAppAccountRef & { reach: StoredReach })[],
  nextSeconds: number,
): Promise<void> {
  await sql`
    with counted as (
      select h.whatsapp_account_id, given.json::jsonb as reach
      from unnest(
        ${sql.val(counted.map(({ accountId }) => accountId))}::text[],
        ${sql.val(counted.map(({ whatsAppAccountId }) => whatsAppAccountId))}::text[],
        ${sql.val(counted.map(({ reach }) => JSON.stringify(reach)))}::text[]
      ) as given (account_id, whatsapp_account_id, json)
      join whatsapp_account_health h
        on h.account_id = given.account_id and h.whatsapp_account_id = given.whatsapp_account_id
      order by h.whatsapp_account_id
      for update of h
    )
    update whatsapp_account_health h
    set reach = counted.reach, next_reach_at = now() + ${nextSeconds} * interval '1 second'
    from counted where h.whatsapp_account_id = counted.whatsapp_account_id`.execute(db)
}
