import { type Kysely, sql } from 'kysely'
import type { DashboardContracts } from '../../../contracts/dashboard/index.ts'
import type {
  AccountOrder,
  ConsoleAccount,
  createAccount as contract,
  getServerFacts,
  listAccounts,
  SlowEndpoint,
} from '../../../contracts/dashboard/console.ts'
import { changes } from '../../../contracts/facts/changes.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import { createAccount, resumeAccount, suspendAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { countStalePending } from '../../messages/status/stale-pending.ts'
import type { HandlersOf } from '../../pipeline/procedures.ts'
import { findEmbeddedDatabase } from '../../platform/db/database.ts'
import type { Database } from '../../platform/db/schema.ts'
import { appendAuditEntry } from '../../users/audit/append.ts'
import { assertMayInvite, createInvitation, notifyMailer } from '../../users/invite-member.ts'
import { closeAccountView, openAccountView, recordList } from '../../users/operators.ts'
import { oldestDue, readQueueState } from '../../webhooks/queue/store.ts'
import { listProcesses } from '../../background/process-report.ts'
import type { DashboardCall } from './authorize.ts'

/** The operator console's handlers. The command line calls the same functions. */
export const consoleHandlers: HandlersOf<DashboardContracts['operator'], DashboardCall> = {
  account: {
    list: async (deps, call, input) => {
      await recordList(deps, { ...call.user(), address: call.address })
      return listConsoleAccounts(deps, input)
    },
    create: (deps, call, input) => createAccountWithOwner(deps, { ...call.user(), address: call.address }, input),
    suspend: (deps, _call, { accountId }) => suspendAccount(deps, accountId),
    resume: (deps, _call, { accountId }) => resumeAccount(deps, accountId),
    view: (deps, call, { accountId }) => openAccountView(deps.db, call.user(), accountId),
    closeView: async ({ db }, call, { accountId }) => {
      await closeAccountView(db, call.user().sessionId, accountId)
      return { closed: true }
    },
  },
  server: {
    get: (deps) => readServerFacts(deps),
    slowEndpoints: async ({ db }) => ({ items: await listSlowEndpoints(db) }),
  },
}

interface ConsoleAccountRow {
  id: string
  rank: number
  name: string
  createdAt: Date
  suspendedAt: Date | null
  apiEnabled: boolean
  numbers: number
  numbersWithProblems: number
  messages: number
  failed: number
  endpoints: number
  failing: number
  lagSeconds: number | null
}

/** Returns a page of all accounts. */
async function listConsoleAccounts(
  { db }: Pick<Deps, 'db'>,
  { search, order, cursor, limit }: InputOf<typeof listAccounts>,
): Promise<OutputOf<typeof listAccounts>> {
  // One extra row shows whether there is a next page.
  const rows = await findConsoleAccounts(db, { search, order, cursor, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toConsoleAccount), ...(last && rows.length > limit && { nextCursor: writeCursor(last) }) }
}

/** The end of a page. An account's rank only changes with its problems, so pages neither repeat nor skip it. */
function writeCursor({ rank, id }: Pick<ConsoleAccountRow, 'rank' | 'id'>): string {
  return `${rank} ${id}`
}

/** Undefined for the first page and for an invalid cursor. */
function readCursor(cursor: string | undefined): { rank: number; id: string } | undefined {
  const [rank = '', id, ...others] = cursor?.split(' ') ?? []
  return rank === '' || id === undefined || others.length > 0 || Number.isNaN(Number(rank))
    ? undefined
    : { rank: Number(rank), id }
}

const failedOfDay = sql`
  select sum(count) as rank from message_count_buckets
  where account_id = accounts.id and status = 'failed' and start >= date_bin('15 minutes', now(), 'epoch') - interval '24 hours'`

/** Ranks by the due time of the oldest delivery, not by its age, because the age grows between two pages. */
const lagOf = sql`
  select -extract(epoch from min(first.due_at)) as rank
  from webhook_endpoints e cross join lateral (select min(due_at) as due_at from ${oldestDue} due) first
  where e.account_id = accounts.id and e.enabled and first.due_at <= now()`

/** The sort key of accounts. The orders by problem compute it for every account, at the cost of one row of the page each. */
function rankBy(order: AccountOrder) {
  switch (order) {
    case 'newest':
      return { ranked: sql``, rank: sql`0::float8` }
    case 'failed':
      return { ranked: sql`cross join lateral (${failedOfDay}) ranked`, rank: sql`coalesce(ranked.rank, 0)::float8` }
    case 'lag':
      return {
        ranked: sql`cross join lateral (${lagOf}) ranked`,
        rank: sql`coalesce(ranked.rank::float8, '-infinity')`,
      }
  }
}

/**
 * Reads all accounts, for operators only. The numbers of each account come from message counts and from the ends of the
 * queue index, so neither messages nor deliveries are scanned.
 */
async function findConsoleAccounts(
  db: Kysely<Database>,
  {
    search,
    order,
    cursor,
    limit,
  }: { search: string | undefined; order: AccountOrder; cursor: string | undefined; limit: number },
): Promise<ConsoleAccountRow[]> {
  const pattern = search === undefined ? undefined : `%${search.replace(/[\\%_]/g, '\\$&')}%`
  const { ranked, rank } = rankBy(order)
  const last = readCursor(cursor)
  const isAfter = order === 'newest' ? sql`id < ${last?.id}` : sql`(${rank}, id) < (${last?.rank}::float8, ${last?.id})`
  const after = last === undefined ? sql`` : sql`and ${isAfter}`
  const { rows } = await sql<ConsoleAccountRow>`
    select a.id, a.rank, a.name, a.created_at as "createdAt", a.suspended_at as "suspendedAt",
      a.api_enabled as "apiEnabled", numbers.total as numbers, numbers.with_problems as "numbersWithProblems",
      volume.total as messages, volume.failed,
      endpoints.total as endpoints, endpoints.failing, endpoints.lag_seconds as "lagSeconds"
    from (
      select id, name, created_at, suspended_at, api_enabled, ${rank} as rank from accounts ${ranked}
      where true
        ${after}
        ${pattern === undefined ? sql`` : sql`and (name ilike ${pattern} or id = ${search})`}
      order by rank desc, id desc limit ${limit}
    ) a
    cross join lateral (
      select count(*)::integer as total,
        (count(*) filter (where not w.active or cardinality(h.announced_findings) > 0))::integer as with_problems
      from whatsapp_accounts w left join whatsapp_account_health h on h.whatsapp_account_id = w.id
      where w.account_id = a.id
    ) numbers
    cross join lateral (
      select coalesce(sum(count), 0)::integer as total,
        coalesce(sum(count) filter (where status = 'failed'), 0)::integer as failed
      from message_count_buckets
      where account_id = a.id and start >= date_bin('15 minutes', now(), 'epoch') - interval '24 hours'
    ) volume
    cross join lateral (
      select count(*)::integer as total,
        (count(*) filter (where e.enabled and e.failing_since is not null))::integer as failing,
        extract(epoch from now() - min(first.due_at) filter (where e.enabled and first.due_at <= now()))::float8 as lag_seconds
      from webhook_endpoints e
      left join lateral (select min(due_at) as due_at from ${oldestDue} due) first on true
      where e.account_id = a.id
    ) endpoints
    order by a.rank desc, a.id desc`.execute(db)
  return rows
}

function toConsoleAccount(row: ConsoleAccountRow): ConsoleAccount {
  return {
    accountId: row.id,
    name: row.name,
    createdAt: row.createdAt.toISOString(),
    ...(row.suspendedAt !== null && { suspendedAt: row.suspendedAt.toISOString() }),
    apiEnabled: row.apiEnabled,
    whatsAppAccounts: { total: row.numbers, withProblems: row.numbersWithProblems },
    messages: { total: row.messages, failed: row.failed },
    endpoints: {
      total: row.endpoints,
      failing: row.failing,
      ...(row.lagSeconds !== null && { lagSeconds: row.lagSeconds }),
    },
  }
}

/** Uses one transaction: if the invitation failed, the account would be left without an owner. */
async function createAccountWithOwner(
  deps: Deps,
  { email: who, address }: { email: string; address: string },
  { name, ownerEmail }: InputOf<typeof contract>,
): Promise<OutputOf<typeof contract>> {
  const created = await deps.db.transaction().execute(async (db) => {
    const within = { ...deps, db }
    const account = await createAccount(within, { name })
    const { accountId } = account
    await appendAuditEntry(within, {
      accountId,
      id: deps.newId('aud'),
      who,
      what: ownerEmail === undefined ? changes.createAccount() : changes.createAccountAndInvite({ email: ownerEmail }),
      address,
      outcome: 'done',
    })
    if (ownerEmail === undefined) return { accountId, name: account.name }
    await assertMayInvite(within, accountId, ownerEmail)
    const { link } = await createInvitation(within, { accountId, invitedBy: who }, { email: ownerEmail, role: 'owner' })
    return { accountId, name: account.name, ...(link !== undefined && { invitationLink: link }) }
  })
  notifyMailer(deps)
  return created
}

async function readServerFacts({ db }: Pick<Deps, 'db'>): Promise<OutputOf<typeof getServerFacts>> {
  const { accounts, ...database } = await readDatabaseFacts(db)
  const queue = await readQueueState(db)
  return {
    database: { ...database, embedded: findEmbeddedDatabase(db) !== undefined },
    accounts,
    queue: {
      lagSeconds: queue.oldestDueSeconds,
      waiting: queue.waiting,
      failingEndpoints: queue.failingEndpoints,
    },
    pending: await countStalePending(db),
    processes: await listProcesses(db),
  }
}

async function readDatabaseFacts(db: Kysely<Database>) {
  const { rows } = await sql<{ bytes: number; version: string; total: number; suspended: number }>`
    select pg_database_size(current_database())::float8 as bytes, current_setting('server_version') as version,
      count(*)::integer as total, count(suspended_at)::integer as suspended
    from accounts`.execute(db)
  const row = rows[0]
  if (!row) throw new Error('an aggregate query returned no row')
  const { total, suspended, bytes, version } = row
  // Distributions add their own version, as in `17.5 (Debian 17.5-1)`.
  return { bytes, postgresVersion: version.split(' ', 1)[0] ?? version, accounts: { total, suspended } }
}

const maxSlowEndpoints = 10

/** Reads all accounts, for operators only. An index on `slot` finds the attempt counts of the last hour. */
async function listSlowEndpoints(db: Kysely<Database>): Promise<SlowEndpoint[]> {
  const { rows } = await sql<Omit<SlowEndpoint, 'host'> & { url: string }>`
    select a.id as "accountId", a.name as "accountName", e.id as "endpointId", e.url, counted.attempts, counted.failed,
      counted.average as "averageMilliseconds", counted.slowest as "slowestMilliseconds"
    from (
      select account_id, endpoint_id, sum(attempts)::integer as attempts,
        coalesce(sum(attempts) filter (where error <> ''), 0)::integer as failed,
        (sum(duration_ms) / sum(attempts))::float8 as average, max(max_duration_ms)::float8 as slowest
      from webhook_attempt_counts
      where slot >= date_bin('15 minutes', now(), 'epoch') - interval '1 hour'
      group by account_id, endpoint_id
    ) counted
    join webhook_endpoints e on e.id = counted.endpoint_id and e.account_id = counted.account_id
    join accounts a on a.id = e.account_id
    order by counted.average desc, e.id
    limit ${maxSlowEndpoints}`.execute(db)
  return rows.map(({ url, ...endpoint }) => ({ ...endpoint, host: new URL(url).host }))
}
