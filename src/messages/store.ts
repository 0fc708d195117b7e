import { type Kysely, sql } from 'kysely'
import type { FailureStage } from '../../contracts/dashboard/message.ts'
import { unknownCode } from '../../contracts/fields.ts'
import { callingCodesOf } from '../platform/countries.ts'
import { firstIdAt } from '../platform/ids.ts'
import type { Database } from '../platform/db/schema.ts'
import { messageColumns, type StoredMessage } from './message.ts'

type Selection = {
  [Field in keyof typeof messageColumns]: `${(typeof messageColumns)[Field]['name']} as ${Field}`
}[keyof typeof messageColumns]

// `Object.entries` loses which field has which column, so the type is asserted.
const selection = Object.entries(messageColumns).map(([field, { name }]) => `${name} as ${field}`) as Selection[]

export function findMessage(
  db: Kysely<Database>,
  accountId: string,
  messageId: string,
): Promise<StoredMessage | undefined> {
  return db
    .selectFrom('messages')
    .select(selection)
    .where('account_id', '=', accountId)
    .where('id', '=', messageId)
    .executeTakeFirst()
}

/** The events of a message with the bodies of their webhooks, oldest first. */
export function findEventsOfMessage(
  db: Kysely<Database>,
  accountId: string,
  messageId: string,
  limit: number,
): Promise<{ id: string; type: string; payload: string }[]> {
  return db
    .selectFrom('events')
    .select(['id', 'type', 'payload'])
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .orderBy('id')
    .limit(limit)
    .execute()
}

export interface MessageFilter {
  /** The ID or its first characters. */
  idStart?: string | undefined
  externalId?: string | undefined
  /** Spellings and user IDs of one recipient. */
  to?: readonly string[] | undefined
  template?: string | undefined
  whatsAppAccountId?: string | undefined
  /** ISO 3166 code for the recipient's calling code, as in the overview. */
  country?: string | undefined
  /** Only failed messages: those that WhatsApp rejected, or those that it accepted first. */
  failure?: FailureStage | undefined
  status?: StoredMessage['status'] | undefined
  /** Only messages that are pending for more than a minute. */
  outcomeUnknown?: boolean | undefined
  errorCode?: string | undefined
  parts?: Parts | undefined
  /** IDs contain their time, so the first ID of a period is its bound. */
  fromId?: string | undefined
  untilId?: string | undefined
  /** Only messages older than this one, where the previous page ended. */
  beforeId?: string | undefined
}

/** Substrings to search for. */
export interface Parts {
  /** Part of the external ID or of the template name, in upper or lower case. */
  text: string
  /** Part of the recipient's number. */
  digits: string | undefined
}

/**
 * Status, error code, template, sending number, country and substrings are not indexed, so a search for a rare value
 * would scan all messages of the account. Examining this many takes about 20 ms.
 */
const defaultMaxExamined = 50_000

export interface FoundMessages {
  rows: StoredMessage[]
  /** The oldest message that was examined, if older ones may match too. */
  cursor: string | undefined
}

/** Newest first. Returns fewer than `limit` messages if it has examined `maxExamined` of them. */
export async function findMessages(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  limit: number,
  maxExamined: number = defaultMaxExamined,
): Promise<FoundMessages> {
  // One extra row shows whether there is a next page.
  const matching = findMatching(db, accountId, filter)
    .select(selection)
    .orderBy('id', 'desc')
    .limit(limit + 1)
  const readDownTo = async (bound: string | undefined): Promise<FoundMessages> => {
    const rows = await (bound === undefined ? matching : matching.where('id', '>=', bound)).execute()
    return rows.length > limit ? { rows: rows.slice(0, limit), cursor: rows[limit - 1]?.id } : { rows, cursor: bound }
  }
  if (isIndexed(filter)) return readDownTo(undefined)
  // Frequent values are found among the newest messages, so a short range is tried first. The bound is read before the
  // page: messages recorded in between are newer, so none is skipped.
  const newest = await readDownTo(await findBound(db, accountId, filter, Math.ceil(maxExamined / 25)))
  const isEnough = newest.rows.length === limit || newest.cursor === undefined
  return isEnough ? newest : readDownTo(await findBound(db, accountId, filter, maxExamined))
}

/** Returns the oldest message to examine; undefined if all of them can be examined. */
async function findBound(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  maxExamined: number,
): Promise<string | undefined> {
  const row = await findIndexed(db, accountId, filter)
    .select('id')
    .orderBy('id', 'desc')
    .offset(maxExamined - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

export interface CountedMessages {
  count: number
  /** False if only the newest messages were examined. */
  isComplete: boolean
}

/** Counts matching messages among the newest `maxExamined`. */
export async function countMatching(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  maxExamined: number,
): Promise<CountedMessages> {
  const bound = await findBound(db, accountId, filter, maxExamined)
  let query = findMatching(db, accountId, filter).select((eb) => eb.fn.countAll<string>().as('count'))
  if (bound !== undefined) query = query.where('id', '>=', bound)
  const { count } = await query.executeTakeFirstOrThrow()
  return { count: Number(count), isComplete: bound === undefined }
}

export interface CountedReasons {
  /** By error code; null if there was none. */
  counts: { code: string | null; count: number }[]
  /** False if only the newest messages were examined. */
  isComplete: boolean
}

/** Counts the failed messages by error code, of the matching ones among the newest `maxExamined`. */
export async function countReasons(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  maxExamined: number,
): Promise<CountedReasons> {
  const bound = await findBound(db, accountId, filter, maxExamined)
  let query = findMatching(db, accountId, filter)
    .where('status', '=', 'failed')
    .select((eb) => ['error_code as code', eb.fn.countAll<string>().as('count')])
    .groupBy('error_code')
  if (bound !== undefined) query = query.where('id', '>=', bound)
  const rows = await query.execute()
  return { counts: rows.map(({ code, count }) => ({ code, count: Number(count) })), isComplete: bound === undefined }
}

export async function hasMessage(db: Kysely<Database>, accountId: string, filter: MessageFilter): Promise<boolean> {
  const row = await findIndexed(db, accountId, filter).select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** Finds a message by its wamid. Only a hash of the wamid is indexed. */
export async function findIdByWaMessageId(
  db: Kysely<Database>,
  accountId: string,
  waMessageId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select m.id from wa_message_ids w
    join messages m on m.account_id = w.account_id and m.id = w.message_id and m.wa_message_id = ${waMessageId}
    where w.hash = hashtextextended(${waMessageId}, 0) and w.account_id = ${accountId}
    limit 1`.execute(db)
  return rows[0]?.id
}

function isIndexed({
  template,
  whatsAppAccountId,
  country,
  failure,
  status,
  errorCode,
  parts,
}: MessageFilter): boolean {
  return [template, whatsAppAccountId, country, failure, status, errorCode, parts].every((value) => value === undefined)
}

/** Applies all filters. */
function findMatching(db: Kysely<Database>, accountId: string, filter: MessageFilter) {
  const { template, whatsAppAccountId, country, failure, status, errorCode, parts } = filter
  let query = findIndexed(db, accountId, filter)
  if (template !== undefined) query = query.where('template_name', '=', template)
  if (whatsAppAccountId !== undefined) query = query.where('whatsapp_account_id', '=', whatsAppAccountId)
  if (country !== undefined) query = query.where(isToCountry(country))
  // As the overview counts them (message-counts.ts).
  if (failure !== undefined)
    query = query.where('status', '=', 'failed').where('wa_message_id', failure === 'rejected' ? 'is' : 'is not', null)
  if (status !== undefined) query = query.where('status', '=', status)
  // A callback without a reason is stored as UNKNOWN; earlier versions stored null.
  if (errorCode === unknownCode)
    query = query
      .where('status', '=', 'failed')
      .where(sql<boolean>`coalesce(error_code, ${unknownCode}) = ${unknownCode}`)
  else if (errorCode !== undefined) query = query.where('error_code', '=', errorCode)
  if (parts !== undefined) query = query.where(contains(parts))
  return query
}

function isToCountry(country: string) {
  const { own, others } = callingCodesOf(country)
  return sql<boolean>`(${startsWithAny(own)} and not ${startsWithAny(others)} or left(to_number, 3) = ${`${country}.`})`
}

/** One comparison per length: PostgreSQL hashes a list of values, but would try a hundred patterns one by one. */
function startsWithAny(codes: readonly string[]) {
  const byLength = [...Map.groupBy(codes, (code) => code.length)]
  const comparisons = byLength.map(([length, own]) => sql`left(to_number, ${sql.lit(length)}) = any(${own}::text[])`)
  return sql<boolean>`(${sql.join([sql`false`, ...comparisons], sql` or `)})`
}

function contains({ text, digits }: Parts) {
  const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  const inTexts = sql<boolean>`(external_id ilike ${pattern} or template_name ilike ${pattern})`
  return digits === undefined ? inTexts : sql<boolean>`(to_number like ${`%${digits}%`} or ${inTexts})`
}

/** Housekeeping lists these messages (status/stale-pending.ts), because pending messages have no index. */
function isOutcomeUnknown(accountId: string) {
  return sql<boolean>`
    status = 'pending' and id in (select o.id from overdue_messages o where o.account_id = ${accountId})`
}

/** Counts the messages of a period that are pending for more than a minute. */
export async function countOutcomeUnknown(
  db: Kysely<Database>,
  accountId: string,
  { from, until }: { from: Date; until: Date },
): Promise<number> {
  const filter = { outcomeUnknown: true, fromId: firstIdAt('msg', from), untilId: firstIdAt('msg', until) }
  const { count } = await findIndexed(db, accountId, filter)
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Applies the filters that have an index. */
function findIndexed(db: Kysely<Database>, accountId: string, filter: MessageFilter) {
  const { idStart, externalId, to, outcomeUnknown, fromId, untilId, beforeId } = filter
  let query = db.selectFrom('messages').where('account_id', '=', accountId)
  // IDs are compared bytewise, and `~` sorts after all of their characters.
  if (idStart !== undefined) query = query.where('id', '>=', idStart).where('id', '<', `${idStart}~`)
  if (externalId !== undefined) query = query.where('external_id', '=', externalId)
  // A comparison with one value lets PostgreSQL read messages in the order of the index.
  if (to?.length === 1 && to[0] !== undefined) query = query.where('to_number', '=', to[0])
  else if (to !== undefined) query = query.where('to_number', 'in', to)
  if (outcomeUnknown === true) query = query.where(isOutcomeUnknown(accountId))
  if (fromId !== undefined) query = query.where('id', '>=', fromId)
  if (untilId !== undefined) query = query.where('id', '<', untilId)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  return query
}
