import { type Kysely, type RawBuilder, sql } from 'kysely'
import { codeLimits } from '../../../contracts/api/code.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import { networkOf, normalizeAddress } from '../../accounts/ip-allow-list.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { personOf } from '../recipients/store.ts'
import { toNumberKey } from '../suppressions/number-key.ts'
import { hashSubject } from './code.ts'
import type { StoredCode } from './store.ts'

interface Subjects {
  to: string
  clientIp: string | undefined
}

type LimitDeps = Pick<Deps, 'db' | 'secrets'>

/**
 * Counts a send for its recipient and for the user's IP address, and stores its code in the same transaction. Throws if
 * there were too many.
 */
export async function spendSend<Stored extends Pick<StoredCode, 'waitSeconds'>>(
  deps: LimitDeps,
  accountId: string,
  subjects: Subjects,
  store: (trx: Kysely<Database>) => Promise<Stored>,
): Promise<Stored> {
  const limits = listSendLimits(deps, subjects)
  // All limits or none: a rejected send is not counted.
  return deps.db.transaction().execute(async (trx) => {
    for (const limit of limits) {
      const wait = await spend(trx, accountId, limit)
      if (wait !== undefined) throw tooMany(limit, wait)
    }
    const stored = await store(trx)
    if (stored.waitSeconds !== null && stored.waitSeconds > 0) throw tooMany({ kind: 'send_to' }, stored.waitSeconds)
    return stored
  })
}

/** Reverts `spendSend` if nothing was sent. */
export async function refundSend(deps: LimitDeps, accountId: string, subjects: Subjects): Promise<void> {
  for (const limit of listSendLimits(deps, subjects)) await refund(deps.db, accountId, limit)
}

/** Counts a check for the user's IP address. `settleCheck` reverts it if the code is correct. */
export async function spendCheck(deps: LimitDeps, accountId: string, subjects: Subjects): Promise<void> {
  for (const limit of listCheckLimits(deps, subjects)) {
    const wait = await spend(deps.db, accountId, limit)
    if (wait !== undefined) throw tooMany(limit, wait)
  }
}

/** After a correct code, neither the check nor the earlier sends to the recipient count any more. */
export async function settleCheck(deps: LimitDeps, accountId: string, subjects: Subjects): Promise<void> {
  for (const limit of listCheckLimits(deps, subjects)) await refund(deps.db, accountId, limit)
  const [toRecipient] = listSendLimits(deps, subjects)
  if (toRecipient) await reset(deps.db, accountId, toRecipient)
}

function listSendLimits({ secrets }: LimitDeps, { to, clientIp }: Subjects): CodeLimit[] {
  const recipient: CodeLimit = {
    kind: 'send_to',
    subject: hashSubject(secrets, toNumberKey(to)),
    recipient: to,
    max: codeLimits.sendsPerRecipientAndHour,
    pauseSeconds: codeLimits.secondsBetweenSends,
  }
  if (clientIp === undefined) return [recipient]
  const subject = hashSubject(secrets, readNetwork(clientIp))
  return [recipient, { kind: 'send_ip', subject, max: codeLimits.sendsPerClientIpAndHour }]
}

function listCheckLimits({ secrets }: LimitDeps, { clientIp }: Subjects): CodeLimit[] {
  if (clientIp === undefined) return []
  const subject = hashSubject(secrets, readNetwork(clientIp))
  return [{ kind: 'check_ip', subject, max: codeLimits.wrongChecksPerClientIpAndHour }]
}

function readNetwork(clientIp: string): string {
  if (normalizeAddress(clientIp) === undefined)
    throw invalidField('clientIp', 'must be an IP address, such as 203.0.113.7 or 2001:db8::7.')
  return networkOf(clientIp)
}

const reasons = {
  send_to: 'to: too many codes were sent to this recipient',
  send_ip: 'clientIp: too many codes were requested from this address',
  check_ip: 'clientIp: too many wrong codes came from this address',
} satisfies Record<CodeLimit['kind'], string>

function tooMany({ kind }: Pick<CodeLimit, 'kind'>, retryAfterSeconds: number): ServiceError {
  return new ServiceError('CODE_LIMIT_EXCEEDED', `${reasons[kind]}. Try again in ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
  })
}

/** A maximum number of uses per hour, with a minimum pause between two of them. */
interface CodeLimit {
  kind: 'send_to' | 'send_ip' | 'check_ip'
  subject: Uint8Array
  /** Whose other names count too: sends to them wait for each other. */
  recipient?: string
  max: number
  pauseSeconds?: number
}

/** A window far in the future started before the clock of the database was set back. */
const windowEnded = sql.raw(
  `(excluded.window_started_at - l.window_started_at >= interval '1 hour' or l.window_started_at - excluded.window_started_at > interval '1 minute')`,
)

/** An arbitrary number that keeps the keys apart from those of other locks. */
const lockSeed = 7_213

/**
 * Until the end of the transaction, a concurrent send to another name of the recipient waits. `insertCode`, the next
 * statement, sees its code.
 */
function lockPerson(accountId: string, recipient: string): RawBuilder<unknown> {
  const key = sql`${accountId} || ' ' || ${personOf(accountId, recipient)}`
  return sql`select pg_advisory_xact_lock(hashtextextended(${key}, ${sql.lit(lockSeed)}))`
}

/**
 * Counts one use and returns undefined. If the limit is reached, counts nothing and returns how many seconds to wait.
 */
async function spend(db: Kysely<Database>, accountId: string, limit: CodeLimit): Promise<number | undefined> {
  const { kind, subject, recipient, max, pauseSeconds = 0 } = limit
  const pause = sql`${pauseSeconds}::float8 * interval '1 second'`
  const locked = recipient === undefined ? sql`select` : lockPerson(accountId, recipient)
  const { rows } = await sql<{ used: number }>`
    insert into one_time_code_limits as l (account_id, kind, subject, window_started_at, last_at, used)
    select ${accountId}, ${kind}, ${subject}::bytea, now(), now(), 1 from (${locked}) locked
    on conflict (account_id, kind, subject) do update set
      window_started_at = case when ${windowEnded} then excluded.window_started_at else l.window_started_at end,
      used = case when ${windowEnded} then 1 else l.used + 1 end,
      last_at = excluded.last_at
    where (l.used < ${max} or ${windowEnded}) and (excluded.last_at - l.last_at >= ${pause} or l.last_at - excluded.last_at > interval '1 minute')
    returning used`.execute(db)
  return rows.length > 0 ? undefined : readWait(db, accountId, limit)
}

async function readWait(db: Kysely<Database>, accountId: string, limit: CodeLimit): Promise<number> {
  const { kind, subject, max, pauseSeconds = 0 } = limit
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from greatest(
      l.last_at + ${pauseSeconds}::float8 * interval '1 second' - now(),
      case when l.used >= ${max} then l.window_started_at + interval '1 hour' - now() end
    )))::integer as seconds
    from one_time_code_limits l where account_id = ${accountId} and kind = ${kind} and subject = ${subject}`.execute(db)
  return Math.max(1, rows[0]?.seconds ?? 1)
}

/** Reverts one use that had no effect, and its pause. */
async function refund(
  db: Kysely<Database>,
  accountId: string,
  { kind, subject, pauseSeconds = 0 }: CodeLimit,
): Promise<void> {
  await sql`
    update one_time_code_limits
    set used = greatest(used - 1, 0), last_at = last_at - ${pauseSeconds}::float8 * interval '1 second'
    where account_id = ${accountId} and kind = ${kind} and subject = ${subject}`.execute(db)
}

/** Resets the count for a recipient who entered the correct code. The pause still applies. */
async function reset(
  db: Kysely<Database>,
  accountId: string,
  { kind, subject }: Pick<CodeLimit, 'kind' | 'subject'>,
): Promise<void> {
  await db
    .updateTable('one_time_code_limits')
    .set({ used: 0 })
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .where('subject', '=', Buffer.from(subject))
    .execute()
}
