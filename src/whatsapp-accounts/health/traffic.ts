import { type Kysely, sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database, StoredTraffic } from '../../platform/db/schema.ts'
import { firstIdAt, timeOfId } from '../../platform/ids.ts'
import { claimBatches } from '../../platform/process-due.ts'
import type { WhatsAppAccountRef } from '../store.ts'
import { callbackTimeIntervalMilliseconds } from './callback-times.ts'
import { logFindings } from './facts.ts'

const hour = 3_600_000
/** WhatsApp reports the first status of a message within seconds. */
const settledAfter = 5 * 60_000
/** The alert waits longer, because WhatsApp may retry a callback. */
const overdueAfter = 10 * 60_000
const nextSeconds = 60
/** One statement counts the messages of all accounts of a claim, so it must not have too many. */
const maxClaimed = 50

type TrafficDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl' | 'graphVersion'>

export function windowAt(now: Date, settled = settledAfter): TrafficWindow {
  return {
    firstId: firstIdAt('msg', new Date(now.getTime() - hour)),
    settledId: firstIdAt('msg', new Date(now.getTime() - settled)),
  }
}

/**
 * Counts the messages of the last hour for the WhatsApp accounts that are due, and logs changed findings. Metrics,
 * doctor and log read the stored counts, because counting at each read would cost too much.
 */
export async function measureTraffic(deps: TrafficDeps, stopping?: AbortSignal): Promise<number> {
  let measured = 0
  const claim = () => claimDueTraffic(deps.db, { limit: maxClaimed, nextSeconds })
  for await (const due of claimBatches(claim, stopping)) {
    await measure(deps, due)
    measured += due.length
  }
  return measured
}

async function measure(deps: TrafficDeps, due: readonly MeasuredAccount[]): Promise<void> {
  const accountIds = [...new Set(due.map(({ accountId }) => accountId))]
  const traffic = await countLastHour(deps.db, accountIds, windowAt(deps.now()))
  const counted = []
  for (const ref of due)
    counted.push({ ...ref, traffic: await addWithoutStatus(deps, ref, traffic.get(ref.whatsAppAccountId)) })
  await logFindings(deps, await saveTraffic(deps.db, counted))
}

async function addWithoutStatus(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  ref: MeasuredAccount,
  traffic: StoredTraffic = noTraffic(),
): Promise<StoredTraffic> {
  if (traffic.sent === 0) return traffic
  const withoutStatus = await countWithoutStatus(db, ref, windowAt(now(), overdueAfter))
  return { ...traffic, ...(withoutStatus && { withoutStatus }) }
}

/** Maximum number of messages that are counted, so that the query stays fast. */
const maxCounted = 50_000
const maxFailureCodes = 5

/** Ranges of message IDs, which sort by time. */
interface TrafficWindow {
  /** The first message ID of the hour. */
  firstId: string
  /** Messages before this ID should have a status by now. */
  settledId: string
}

interface TrafficRow {
  whatsAppAccountId: string
  failed: boolean
  code: string | null
  count: number
  /** The newest message that should have a status by now and is still `sent`. */
  lastWithoutStatusId: string | null
  /** The newest message that was delivered or read. */
  lastReportedId: string | null
}

/**
 * Counts the newest messages of the last hour by WhatsApp account. The limit covers all numbers of an account together,
 * because there is no index by number.
 */
export async function countLastHour(
  db: Kysely<Database>,
  accountIds: readonly string[],
  { firstId, settledId }: TrafficWindow,
): Promise<Map<string, StoredTraffic>> {
  const { rows } = await sql<TrafficRow>`
    select whatsapp_account_id as "whatsAppAccountId", failed, code, count(*)::integer as count,
      max(id) filter (where status = 'sent' and id < ${settledId}) as "lastWithoutStatusId",
      max(id) filter (where status in ('delivered', 'read')) as "lastReportedId"
    from unnest(${sql.val([...accountIds])}::text[]) as counted (account_id)
    cross join lateral (
      select whatsapp_account_id, id, status, status = 'failed' as failed, error_code as code
      from messages
      where account_id = counted.account_id and id >= ${firstId}
      order by id desc limit ${maxCounted}
    ) m group by whatsapp_account_id, failed, code order by count desc`.execute(db)
  const traffic = new Map<string, StoredTraffic>()
  for (const [whatsAppAccountId, group] of Map.groupBy(rows, (row) => row.whatsAppAccountId)) {
    const known = noTraffic()
    for (const row of group) addRow(known, row)
    const withoutStatus = findUnreported(group)
    if (withoutStatus !== undefined) known.lastAcceptedAt = timeOfId(withoutStatus).toISOString()
    traffic.set(whatsAppAccountId, known)
  }
  return traffic
}

export function noTraffic(): StoredTraffic {
  return { sent: 0, failed: 0, failures: [] }
}

function addRow(known: StoredTraffic, { failed, code, count }: TrafficRow): void {
  if (failed) {
    known.failed += count
    if (known.failures.length < maxFailureCodes) known.failures.push({ code: code ?? 'UNKNOWN', count })
  } else known.sent += count
}

/** A later message that was delivered or read proves that statuses arrive, and that only the recipient is offline. */
function findUnreported(rows: readonly TrafficRow[]): string | undefined {
  const withoutStatus = findLatest(rows.map((row) => row.lastWithoutStatusId))
  const reported = findLatest(rows.map((row) => row.lastReportedId))
  return withoutStatus !== undefined && (reported === undefined || withoutStatus > reported) ? withoutStatus : undefined
}

/** IDs sort by time. */
function findLatest(ids: readonly (string | null)[]): string | undefined {
  return ids
    .filter((id) => id !== null)
    .toSorted()
    .at(-1)
}

/**
 * Counts messages of the last hour that WhatsApp accepted after its last status; undefined if there are none. While
 * statuses arrive, the range is empty and no query runs.
 */
async function countWithoutStatus(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId, lastStatusAt }: MeasuredAccount,
  { firstId, settledId }: TrafficWindow,
): Promise<StoredTraffic['withoutStatus']> {
  const afterStatus = firstIdAt('msg', new Date((lastStatusAt?.getTime() ?? 0) + callbackTimeIntervalMilliseconds))
  const fromId = afterStatus > firstId ? afterStatus : firstId
  if (fromId >= settledId) return undefined
  const { rows } = await sql<{ count: number; since: Date | null }>`
    select count(*)::integer as count, min(created_at) as since
    from (
      select whatsapp_account_id, status, created_at from messages
      where account_id = ${accountId} and id >= ${fromId} and id < ${settledId}
      order by id desc limit ${maxCounted}
    ) m where whatsapp_account_id = ${whatsAppAccountId} and status = 'sent'`.execute(db)
  const { count = 0, since = null } = rows[0] ?? {}
  return since === null ? undefined : { count, since: since.toISOString() }
}

interface MeasuredAccount extends WhatsAppAccountRef {
  lastStatusAt: Date | null
}

/**
 * Claims WhatsApp accounts whose messages are to be counted, so that only one of several nodes counts them. Reads all
 * accounts.
 */
async function claimDueTraffic(
  db: Kysely<Database>,
  { limit, nextSeconds }: { limit: number; nextSeconds: number },
): Promise<MeasuredAccount[]> {
  const { rows } = await sql<MeasuredAccount>`
    with due as (
      select whatsapp_account_id from whatsapp_account_health
      where next_traffic_at <= now() order by next_traffic_at limit ${limit} for update skip locked
    )
    update whatsapp_account_health h set next_traffic_at = now() + ${nextSeconds} * interval '1 second'
    from due
    where h.whatsapp_account_id = due.whatsapp_account_id
    returning h.account_id as "accountId", h.whatsapp_account_id as "whatsAppAccountId",
      h.last_status_at as "lastStatusAt"`.execute(db)
  return rows
}

/**
 * Stores counts that differ from the stored ones, and returns their WhatsApp accounts. Rows are locked in the order of
 * callbacks. Writes to all accounts; each row names its own.
 */
async function saveTraffic(
  db: Kysely<Database>,
  counted: readonly (WhatsAppAccountRef & { traffic: StoredTraffic })[],
): Promise<WhatsAppAccountRef[]> {
  const { rows } = await sql<WhatsAppAccountRef>`
    with changed as (
      select h.whatsapp_account_id, counted.traffic
      from unnest(
        ${counted.map(({ accountId }) => accountId)}::text[],
        ${counted.map(({ whatsAppAccountId }) => whatsAppAccountId)}::text[],
        ${counted.map(({ traffic }) => JSON.stringify(traffic))}::text[]
      ) as given (account_id, whatsapp_account_id, json)
      cross join lateral (select given.json::jsonb as traffic) counted
      join whatsapp_account_health h
        on h.account_id = given.account_id and h.whatsapp_account_id = given.whatsapp_account_id
      where h.traffic is distinct from counted.traffic
      order by h.whatsapp_account_id
      for update of h
    )
    update whatsapp_account_health h set traffic = changed.traffic
    from changed
    where h.whatsapp_account_id = changed.whatsapp_account_id
    returning h.account_id as "accountId", h.whatsapp_account_id as "whatsAppAccountId"`.execute(db)
  return rows
}
