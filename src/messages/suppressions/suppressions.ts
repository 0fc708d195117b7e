import { type Kysely, sql, type Transaction } from 'kysely'
import type {
  addSuppression as addContract,
  importSuppressions as importContract,
  listSuppressions as listContract,
  removeSuppression as removeContract,
  Suppression,
  SuppressionPage,
} from '../../../contracts/api/suppression.ts'
import type { UserSuppression } from '../../../contracts/dashboard/suppression.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { readActor } from '../../../contracts/facts/changes.ts'
import { quotaFacts } from '../../../contracts/facts/errors.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { mayHaveCommitted } from '../../platform/db/errors.ts'
import type { Database } from '../../platform/db/schema.ts'
import { assertCompleteNumbers } from '../recipients/check-number.ts'
import { isUserId, recipientOf } from '../recipients/plan-identities.ts'
import { lockRecipients } from '../recipients/store.ts'
import { applyChoices } from './choices-store.ts'
import { findHashKey, storedKeysOf, toNumberKey } from './number-key.ts'
import { findSuppressions, type ListedSuppression, unsuppress } from './store.ts'

export function listSuppressions(
  deps: Pick<Deps, 'db' | 'secrets'>,
  caller: Caller,
  input: InputOf<typeof listContract>,
): Promise<SuppressionPage> {
  return listAs(deps, caller, input, toSuppression)
}

/** The list with who added each recipient, for users of the account. */
export function listSuppressionsForUser(
  deps: Pick<Deps, 'db' | 'secrets'>,
  caller: Caller,
  input: InputOf<typeof listContract>,
): Promise<{ items: UserSuppression[]; nextCursor?: string }> {
  return listAs(deps, caller, input, toUserSuppression)
}

async function listAs<Item>(
  deps: Pick<Deps, 'db' | 'secrets'>,
  { accountId }: Caller,
  { to, recipient = to, reason, cursor, limit }: InputOf<typeof listContract>,
  toItem: (row: ListedSuppression) => Item,
): Promise<{ items: Item[]; nextCursor?: string }> {
  const hashKey = recipient === undefined ? undefined : await findHashKey(deps.db, deps.secrets)
  // One extra entry shows whether there is a next page.
  const rows = await findSuppressions(
    deps.db,
    accountId,
    { recipient: to ?? recipient, reason, beforeId: cursor },
    { limit: limit + 1, hashKey },
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(toItem), ...(rows.length > limit && last && { nextCursor: last.id }) }
}

export function toSuppression(row: ListedSuppression): Suppression {
  // An entry of someone whose number is not known has the user ID as its key.
  const userId = row.userId ?? (isUserId(row.key) ? row.key : undefined)
  return {
    to: row.to,
    ...(userId !== undefined && { userId }),
    reason: row.reason,
    since: row.since.toISOString(),
    allMessages: row.allMessages,
    ...(row.whatsAppAccountId !== null && { accountId: row.whatsAppAccountId }),
  }
}

function toUserSuppression(row: ListedSuppression): UserSuppression {
  const addedBy = addedByOf(row)
  return { ...toSuppression(row), ...(addedBy !== undefined && withFacts({ addedBy: readActor(addedBy) })) }
}

/** The version before does not clear the column when a recipient decides. */
export function addedByOf({ reason, addedBy }: ListedSuppression): string | undefined {
  return reason === 'manual' || reason === 'import' ? (addedBy ?? undefined) : undefined
}

/** Who changes the list. */
interface Changer extends Caller {
  /** The name in the audit log. */
  actor(): string
}

type ChangeDeps = Pick<Deps, 'db' | 'log' | 'newId' | 'now' | 'secrets' | 'quotas'>

/** Adds entries within the quota. Opt-outs of recipients are never refused, but they count. */
async function addWithinQuota<Added>(
  { db, quotas, log }: ChangeDeps,
  entries: NewEntries,
  add: (trx: Transaction<Database>) => Promise<{ answer: Added; added: number }>,
): Promise<Added> {
  const quota = quotas.suppressions
  const room = await reserveEntries(db, entries, quota)
  if (room === undefined) throw quotaExceeded(quota)
  try {
    return await db.transaction().execute(async (trx) => {
      const { answer, added } = await add(trx)
      if (!(await settleRoom(trx, room, { accountId: entries.accountId, added, quota }))) throw quotaExceeded(quota)
      return answer
    })
  } catch (error) {
    // If it may have been committed, only counting the list shows how much room there is.
    if (!mayHaveCommitted(error))
      await releaseRoom(db, entries.accountId, room).catch((failure: unknown) =>
        log.warn({ err: failure, accountId: entries.accountId }, 'could not release the reserved suppression quota'),
      )
    throw error
  }
}

function quotaExceeded(quota: number): ServiceError {
  return new ServiceError('SUPPRESSION_QUOTA_EXCEEDED', quotaFacts.suppressions({ quota }))
}

export async function addSuppression(
  deps: ChangeDeps,
  caller: Changer,
  { allMessages, ...given }: InputOf<typeof addContract>,
): Promise<OutputOf<typeof addContract>> {
  const { accountId } = caller
  const recipient = recipientOf(given)
  await assertCompleteNumbers(deps, { accountId }, [{ field: 'to', recipient }])
  const decided = { at: deps.now(), allMessages, addedBy: caller.actor() }
  const choice = { accountId, recipient, choice: 'out', reason: 'manual', ...decided } as const
  return addWithinQuota(deps, { accountId, recipients: [recipient] }, async (trx) => {
    const added = await applyChoices(deps, trx, [choice])
    const [row] = await findSuppressions(trx, accountId, { recipient }, { limit: 1, hashKey: undefined })
    // A removal by a node whose clock is ahead can be newer than this entry.
    const entry = row
      ? toSuppression(row)
      : { to: recipient, reason: choice.reason, since: choice.at.toISOString(), allMessages }
    return { answer: { ...entry, added: added.length > 0 }, added: added.length }
  })
}

export async function removeSuppression(
  deps: ChangeDeps,
  { accountId }: Caller,
  given: InputOf<typeof removeContract>,
): Promise<OutputOf<typeof removeContract>> {
  const recipient = recipientOf(given)
  const hashKey = await findHashKey(deps.db, deps.secrets)
  const removed = await deps.db.transaction().execute(async (trx) => {
    await lockRecipients(trx, [accountId])
    return unsuppress(trx, { accountId, recipient, hashKey, id: deps.newId('sup'), at: deps.now() })
  })
  if (removed > 0) await releaseEntries(deps.db, accountId, removed)
  return { to: recipient, removed: removed > 0 }
}

export async function importSuppressions(
  deps: ChangeDeps,
  caller: Changer,
  { recipients, allMessages }: InputOf<typeof importContract>,
): Promise<OutputOf<typeof importContract>> {
  const { accountId } = caller
  const given = recipients.map((recipient, index) => ({ field: `recipients[${index}]`, recipient }))
  await assertCompleteNumbers(deps, { accountId }, given)
  const decided = { at: deps.now(), allMessages, addedBy: caller.actor() }
  const named = new Map(recipients.map((recipient) => [toNumberKey(recipient), recipient]))
  const choices = Array.from(
    named.values(),
    (recipient) => ({ accountId, recipient, choice: 'out', reason: 'import', ...decided }) as const,
  )
  return addWithinQuota(deps, { accountId, recipients }, async (trx) => {
    const added = (await applyChoices(deps, trx, choices)).length
    return { answer: { added, alreadySuppressed: recipients.length - added }, added }
  })
}

/** Counting a long list takes a moment, so callers who keep trying at the quota do not count it each time. */
const recountSeconds = 30
const validSeconds = 3600

interface NewEntries {
  accountId: string
  /** Numbers and user IDs. */
  recipients: readonly string[]
}

/** Room for entries that an addition may make. */
interface Room {
  added: number
  /** When the list was counted that the room was taken from, as text: a `Date` has no microseconds. */
  countedAt: string
}

/**
 * Reserves room for recipients who are not on the list yet. Returns undefined if there is not enough. Each statement is
 * short, because additions that wait for each other in transactions would occupy all connections.
 */
async function reserveEntries(db: Kysely<Database>, entries: NewEntries, quota: number): Promise<Room | undefined> {
  const added = await countNew(db, entries)
  if (added === 0) return { added, countedAt: '-infinity' }
  const reservation = { accountId: entries.accountId, added, quota }
  const room = await reserve(db, reservation)
  if (room) return room
  await recount(db, entries.accountId)
  return reserve(db, reservation)
}

/** A recipient can be on the list under another name. */
async function countNew(db: Kysely<Database>, { accountId, recipients }: NewEntries): Promise<number> {
  const persons = [...new Set(recipients.map(toNumberKey))]
  const keys = persons.flatMap((person, n) => storedKeysOf(person).map((key) => ({ key, n })))
  const { rows } = await sql<{ listed: number }>`
    select count(distinct r.n)::integer as listed
    from unnest(
      ${sql.val(keys.map(({ key }) => key))}::text[], ${sql.val(keys.map(({ n }) => n))}::integer[]
    ) as r (key, n)
    left join recipient_identities i on i.account_id = ${accountId} and i.identity = r.key
    join suppressions s
      on s.account_id = ${accountId} and s.number_key = any (array[r.key, i.person]) and s.suppressed`.execute(db)
  return persons.length - (rows[0]?.listed ?? 0)
}

interface Reservation {
  accountId: string
  added: number
  quota: number
}

async function reserve(db: Kysely<Database>, { accountId, added, quota }: Reservation): Promise<Room | undefined> {
  const { rows } = await sql<{ countedAt: string }>`
    update suppression_usage set entries = entries + ${added}::integer
    where account_id = ${accountId} and entries + ${added}::integer <= ${quota}::integer
      and counted_at > now() - ${validSeconds} * interval '1 second'
    returning counted_at::text as "countedAt"`.execute(db)
  return rows[0] && { added, countedAt: rows[0].countedAt }
}

/**
 * Replaces the reservation by the entries that were added, in their transaction. All of them need room if the list was
 * counted since: the count does not include them. Returns false if there is not enough. Until the transaction ends, the
 * list is not counted.
 */
async function settleRoom(
  trx: Transaction<Database>,
  room: Room,
  { accountId, added, quota }: Reservation,
): Promise<boolean> {
  if (added === 0 && room.added === 0) return true
  const reserved = sql`case when counted_at = ${room.countedAt}::text::timestamptz then ${room.added}::integer else 0 end`
  const { rows } = await sql`
    update suppression_usage set entries = entries + ${added}::integer - ${reserved}
    where account_id = ${accountId}
      and (${added}::integer <= ${reserved} or entries + ${added}::integer - ${reserved} <= ${quota}::integer)
    returning 1`.execute(trx)
  return rows.length > 0
}

/** Returns reserved room, unless the list was counted since: the count does not include it. */
async function releaseRoom(db: Kysely<Database>, accountId: string, { added, countedAt }: Room): Promise<void> {
  await sql`
    update suppression_usage set entries = greatest(entries - ${added}::integer, 0)
    where account_id = ${accountId} and counted_at = ${countedAt}::text::timestamptz`.execute(db)
}

/**
 * Counts the list, unless it was counted a moment ago. The row is locked before, in a statement of its own, so that the
 * count includes every addition that was settled, and later ones find that the list was counted.
 */
async function recount(db: Kysely<Database>, accountId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`
      insert into suppression_usage (account_id, entries, counted_at) values (${accountId}, 0, '-infinity')
      on conflict (account_id) do nothing`.execute(trx)
    const { rows } = await sql`
      select from suppression_usage
      where account_id = ${accountId} and counted_at <= now() - ${recountSeconds} * interval '1 second'
      for update`.execute(trx)
    if (rows.length === 0) return
    await sql`
      update suppression_usage set counted_at = now(), entries = (
        select count(*) from suppressions where account_id = ${accountId} and suppressed
      )
      where account_id = ${accountId}`.execute(trx)
  })
}

/** Makes room for other entries. */
async function releaseEntries(db: Kysely<Database>, accountId: string, count: number): Promise<void> {
  await sql`
    update suppression_usage set entries = greatest(entries - ${count}::integer, 0) where account_id = ${accountId}`.execute(
    db,
  )
}
