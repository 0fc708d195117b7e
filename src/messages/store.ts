import { type Kysely, sql } from 'kysely'
import type { FailureStage } from '../../contracts/dashboard/message.ts'
import { noReason } from '../../contracts/fields.ts'
import { callingCodesOf } from '../platform/countries.ts'
import type { Database } from '../platform/db/schema.ts'
import { messageColumns, type StoredMessage } from './columns.ts'

type Selection = {
  [Field in keyof typeof messageColumns]: `${(typeof messageColumns)[Field]['name']} as ${Field}`
}[keyof typeof messageColumns]

// `Object.entries` forgets which field has which column; the type above says it.
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

/** The bodies of the webhooks about a message, by event ID. */
export async function findPayloads(
  db: Kysely<Database>,
  accountId: string,
  messageId: string,
  limit: number,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('events')
    .select(['id', 'payload'])
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .orderBy('id')
    .limit(limit)
    .execute()
  return new Map(rows.map(({ id, payload }) => [id, payload]))
}

export interface MessageFilter {
  /** The ID or its first characters. */
  idStart?: string | undefined
  externalId?: string | undefined
  to?: string | undefined
  template?: string | undefined
  whatsAppAccountId?: string | undefined
  /** ISO 3166, of the recipient's calling code, as the overview counts it. */
  country?: string | undefined
  /** Failed, and rejected by WhatsApp or accepted before. */
  failure?: FailureStage | undefined
  status?: StoredMessage['status'] | undefined
  errorCode?: string | undefined
  parts?: Parts | undefined
  /** Ids carry their time: the first id of a period bounds it. */
  fromId?: string | undefined
  untilId?: string | undefined
  /** Only messages older than this one: where the page before stopped. */
  beforeId?: string | undefined
}

/** What a search looks for within the texts of a message. */
export interface Parts {
  /** Part of the external ID or of the template name, in upper or lower case. */
  text: string
  /** Part of the recipient's number. */
  digits: string | undefined
}

/**
 * Status, error code, template, sending number, country and text fragments are not indexed, so a rare value would scan the whole account.
 * Examine at most this many (about 20 ms).
 */
const lookedThroughAtOnce = 50_000

export interface FoundMessages {
  rows: StoredMessage[]
  /** The message that was looked at last, when others behind it may match as well. */
  stoppedAt: string | undefined
}

/** Newest first; at most `limit`, and fewer where it has looked through as many as it does at once. */
export async function findMessages(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  limit: number,
  lookThrough: number = lookedThroughAtOnce,
): Promise<FoundMessages> {
  // One more than asked for tells whether there are others.
  const matching = findMatching(db, accountId, filter)
    .select(selection)
    .orderBy('id', 'desc')
    .limit(limit + 1)
  const look = async (bound: string | undefined): Promise<FoundMessages> => {
    const rows = await (bound === undefined ? matching : matching.where('id', '>=', bound)).execute()
    return rows.length > limit
      ? { rows: rows.slice(0, limit), stoppedAt: rows[limit - 1]?.id }
      : { rows, stoppedAt: bound }
  }
  if (isIndexed(filter)) return look(undefined)
  // What matches often is among the newest few. The bound comes first: what is recorded meanwhile lies before it.
  const near = await look(await findBound(db, accountId, filter, Math.ceil(lookThrough / 25)))
  const isEnough = near.rows.length === limit || near.stoppedAt === undefined
  return isEnough ? near : look(await findBound(db, accountId, filter, lookThrough))
}

/** The last one that is looked at; undefined when all are. */
async function findBound(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  lookThrough: number,
): Promise<string | undefined> {
  const row = await findIndexed(db, accountId, filter)
    .select('id')
    .orderBy('id', 'desc')
    .offset(lookThrough - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

export interface CountedMessages {
  count: number
  /** False if only the newest messages were examined. */
  isComplete: boolean
}

/** Counts matching messages among the newest `lookThrough`. */
export async function countMatching(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  lookThrough: number,
): Promise<CountedMessages> {
  const bound = await findBound(db, accountId, filter, lookThrough)
  let query = findMatching(db, accountId, filter).select((eb) => eb.fn.countAll<string>().as('count'))
  if (bound !== undefined) query = query.where('id', '>=', bound)
  const { count } = await query.executeTakeFirstOrThrow()
  return { count: Number(count), isComplete: bound === undefined }
}

export interface CountedReasons {
  /** By code; null if there was none. */
  counts: { code: string | null; count: number }[]
  /** False if only the newest messages were examined. */
  isComplete: boolean
}

/** Counts the failed ones of the matching messages among the newest `lookThrough`. */
export async function countReasons(
  db: Kysely<Database>,
  accountId: string,
  filter: MessageFilter,
  lookThrough: number,
): Promise<CountedReasons> {
  const bound = await findBound(db, accountId, filter, lookThrough)
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

/** By its wamid, of which a hash is indexed. */
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

/** By all filters. */
function findMatching(db: Kysely<Database>, accountId: string, filter: MessageFilter) {
  const { template, whatsAppAccountId, country, failure, status, errorCode, parts } = filter
  let query = findIndexed(db, accountId, filter)
  if (template !== undefined) query = query.where('template_name', '=', template)
  if (whatsAppAccountId !== undefined) query = query.where('whatsapp_account_id', '=', whatsAppAccountId)
  if (country !== undefined) query = query.where(isTo(country))
  // As the overview counts them (migration 0024).
  if (failure !== undefined)
    query = query.where('status', '=', 'failed').where('wa_message_id', failure === 'rejected' ? 'is' : 'is not', null)
  if (status !== undefined) query = query.where('status', '=', status)
  // A callback without a reason is stored as UNKNOWN; earlier versions stored null.
  if (errorCode === noReason)
    query = query.where('status', '=', 'failed').where(sql<boolean>`coalesce(error_code, ${noReason}) = ${noReason}`)
  else if (errorCode !== undefined) query = query.where('error_code', '=', errorCode)
  if (parts !== undefined) query = query.where(contains(parts))
  return query
}

function isTo(country: string) {
  const { own, others } = callingCodesOf(country)
  return sql<boolean>`(${startsWithAny(own)} and not ${startsWithAny(others)})`
}

/** A comparison for each length: PostgreSQL hashes a list of equal values, while it would try a hundred patterns each. */
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

/** By what an index leads to. */
function findIndexed(db: Kysely<Database>, accountId: string, filter: MessageFilter) {
  const { idStart, externalId, to, fromId, untilId, beforeId } = filter
  let query = db.selectFrom('messages').where('account_id', '=', accountId)
  // IDs are compared bytewise, and `~` follows all of their characters.
  if (idStart !== undefined) query = query.where('id', '>=', idStart).where('id', '<', `${idStart}~`)
  if (externalId !== undefined) query = query.where('external_id', '=', externalId)
  if (to !== undefined) query = query.where('to_number', '=', to)
  if (fromId !== undefined) query = query.where('id', '>=', fromId)
  if (untilId !== undefined) query = query.where('id', '<', untilId)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  return query
}
