import type { Kysely } from 'kysely'
import type {
  countMessages as countMessagesContract,
  FailureReasons,
  listFailureReasons as listFailureReasonsContract,
  listMessages as listMessagesContract,
  MessageCount,
} from '../../../contracts/dashboard/message.ts'
import { PhoneNumber, unknownCode } from '../../../contracts/fields.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { adviseOnFailure, pickMeaning } from '../../whatsapp/failure-advice.ts'
import { toMessage } from '../message.ts'
import { isUserId } from '../recipients/plan-identities.ts'
import { findAddressedNames } from '../recipients/store.ts'
import {
  countMatching,
  countReasons,
  findIdByWaMessageId,
  hasMessage,
  type MessageFilter,
  type Parts,
} from '../store.ts'
import { sumCounts } from './counts-store.ts'
import { findPage, toFilter } from './read.ts'
import { explainFailure } from './overview.ts'

type SearchTerm =
  /** A complete ID, or its first characters. */
  | { kind: 'messageId'; start: string }
  | { kind: 'waMessageId'; waMessageId: string }
  /** `lookedFor`: the digits, if a typed prefix was removed from them. */
  | { kind: 'parts'; parts: Parts; lookedFor?: string }

/** So few digits with a leading zero are more likely the end of a number than a number with a prefix. */
const longestFragment = 6

/**
 * Numbers are stored without the international prefix `00` and the national prefix `0`. Numbers that contain the digits
 * with the prefix are found too, because they also contain the remaining digits.
 */
function removePrefix(digits: string): string {
  return digits.length > longestFragment ? digits.replace(/^00?(?=[1-9])/, '') : digits
}

/** Numbers are found as people write them: with a plus or a prefix in front, spaces, hyphens and parentheses. */
export function interpretSearch(search: string): SearchTerm {
  const text = search.trim()
  if (/^msg_[0-9a-z]{0,26}$/i.test(text)) return { kind: 'messageId', start: text.toLowerCase() }
  if (text.startsWith('wamid.')) return { kind: 'waMessageId', waMessageId: text }
  const typed = /^[+\d\s().-]+$/.test(text) ? text.replaceAll(/\D/g, '') : ''
  const digits = removePrefix(typed)
  const parts = { text, digits: digits === '' ? undefined : digits }
  return { kind: 'parts', parts, ...(digits !== typed && { lookedFor: digits }) }
}

type Filters = InputOf<typeof countMessagesContract>
type Matched = NonNullable<OutputOf<typeof listMessagesContract>['matched']>

interface ResolvedSearch {
  filter: MessageFilter
  matched: Matched
  lookedFor?: string | undefined
}

/**
 * An exact match is found by an index, however old it is; parts are searched for in a bounded number of messages. So if
 * a recipient or an external ID matches exactly, only those messages are listed, unless `parts` is set.
 */
async function resolveSearch(
  db: Kysely<Database>,
  accountId: string,
  {
    search,
    parts,
    to,
    recipient = to,
    externalId,
  }: Pick<Filters, 'search' | 'parts' | 'to' | 'recipient' | 'externalId'>,
): Promise<ResolvedSearch | undefined> {
  if (search === undefined || search.trim() === '') return undefined
  const term = interpretSearch(search)
  switch (term.kind) {
    case 'messageId':
      return { filter: { idStart: term.start }, matched: 'messageId' }
    case 'waMessageId': {
      const id = await findIdByWaMessageId(db, accountId, term.waMessageId)
      // No ID starts like a wamid, so an unknown one finds nothing.
      return { filter: { idStart: id ?? term.waMessageId }, matched: 'waMessageId' }
    }
    case 'parts': {
      const { lookedFor } = term
      const { text, digits } = term.parts
      const matches = async (filter: MessageFilter) => parts !== true && (await hasMessage(db, accountId, filter))
      const name = isUserId(text) ? text : PhoneNumber.safeParse(digits).data
      if (recipient === undefined && name !== undefined) {
        const filter = { to: await findAddressedNames(db, accountId, name) }
        if (await matches(filter)) return { filter, matched: 'recipient', lookedFor }
      }
      if (externalId === undefined && (await matches({ externalId: text })))
        return { filter: { externalId: text }, matched: 'externalId' }
      return { filter: { parts: term.parts }, matched: 'parts', lookedFor }
    }
  }
}

export async function searchMessages(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  { search, parts, ...input }: Omit<InputOf<typeof listMessagesContract>, 'accountId'>,
): Promise<OutputOf<typeof listMessagesContract>> {
  const resolved = await resolveSearch(deps.db, caller.accountId, { ...input, search, parts })
  const { rows, ...page } = await findPage(deps, caller, input, { search: resolved?.filter ?? {} })
  const items = rows.map((row) => {
    const message = toMessage(row)
    return {
      ...message,
      ...(message.error && pickMeaning(adviseOnFailure(message.error))),
      ...(row.pricing !== null && { pricing: row.pricing }),
    }
  })
  const { matched, lookedFor } = resolved ?? {}
  return { ...page, items, ...(matched && { matched }), ...(lookedFor !== undefined && { lookedFor }) }
}

/** Takes a few milliseconds. A page examines more messages, but an open log repeats its count. */
const maxCounted = 10_000

/**
 * Counts exactly if there are few messages to examine. Otherwise it returns an estimate: from the counts of the
 * overview, which are by day, status, error code and whether WhatsApp accepted the message; for other filters, from the
 * share of matches among the newest messages.
 */
export async function countMessages(
  { db }: Pick<Deps, 'db'>,
  { accountId }: Caller,
  { search, parts, ...filters }: Omit<InputOf<typeof countMessagesContract>, 'accountId'>,
  maxExamined: number = maxCounted,
): Promise<MessageCount> {
  const resolved = await resolveSearch(db, accountId, { ...filters, search, parts })
  const filter = { ...(await toFilter(db, accountId, filters)), ...resolved?.filter }
  const { count, isComplete } = await countMatching(db, accountId, filter, maxExamined)
  if (isComplete) return { count, kind: 'exact' }
  // There are no stored counts by recipient, external ID or message ID.
  if (filter.to !== undefined || filter.externalId !== undefined || filter.idStart !== undefined)
    return { count, kind: 'minimum' }
  const period = { from: toDate(filters.from), until: toDate(filters.until) }
  const estimate = isCounted(filter)
    ? await sumCounts(db, accountId, { ...filter, ...period })
    : Math.round((count / maxExamined) * (await sumCounts(db, accountId, period)))
  return estimate > count ? { count: estimate, kind: 'estimate' } : { count, kind: 'minimum' }
}

function toDate(time: string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}

/** Pending messages are not in the counts. */
function isCounted({ template, whatsAppAccountId, country, parts, outcomeUnknown, status }: MessageFilter): boolean {
  const uncounted = [template, whatsAppAccountId, country, parts, outcomeUnknown]
  return uncounted.every((value) => value === undefined) && status !== 'pending'
}

const maxListed = 10

/** Examines at most as many messages as a count does. */
export async function listFailureReasons(
  { db }: Pick<Deps, 'db'>,
  { accountId }: Caller,
  { search, parts, ...filters }: Omit<InputOf<typeof listFailureReasonsContract>, 'accountId'>,
  maxExamined: number = maxCounted,
): Promise<FailureReasons> {
  const resolved = await resolveSearch(db, accountId, { ...filters, search, parts })
  const filter = { ...(await toFilter(db, accountId, filters)), ...resolved?.filter }
  const { counts, isComplete } = await countReasons(db, accountId, filter, maxExamined)
  const reasons = sumByCode(counts)
  const others = reasons.slice(maxListed).reduce((sum, { count }) => sum + count, 0)
  return {
    reasons: reasons
      .slice(0, maxListed)
      .map(({ code, count }) => ({ code, ...pickMeaning(explainFailure(code)), count })),
    others,
    ...(!isComplete && { examined: maxExamined }),
  }
}

/** The most frequent first. Earlier versions stored null instead of UNKNOWN. */
function sumByCode(counts: readonly { code: string | null; count: number }[]): { code: string; count: number }[] {
  const byCode = new Map<string, number>()
  for (const { code, count } of counts) byCode.set(code || unknownCode, (byCode.get(code || unknownCode) ?? 0) + count)
  return [...byCode]
    .map(([code, count]) => ({ code, count }))
    .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
}
