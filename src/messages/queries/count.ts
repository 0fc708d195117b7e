import type { countMessages as contract, MessageCount } from '../../../contracts/dashboard/message.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { countMatching, type MessageFilter } from '../store.ts'
import { sumCounts } from './counts-store.ts'
import { toFilter } from './list.ts'
import { resolveSearch } from './search.ts'

/** Takes a few milliseconds. A page examines more messages, but an open log repeats its count. */
export const maxCounted = 10_000

/**
 * Counts exactly if there are few messages to examine. Otherwise it returns an estimate: from the counts of the
 * overview, which are by day, status, error code and whether WhatsApp accepted the message; for other filters, from the
 * share of matches among the newest messages.
 */
export async function countMessages(
  { db }: Pick<Deps, 'db'>,
  { accountId }: Caller,
  { search, parts, ...filters }: Omit<InputOf<typeof contract>, 'accountId'>,
  maxExamined: number = maxCounted,
): Promise<MessageCount> {
  const resolved = await resolveSearch(db, accountId, { ...filters, search, parts })
  const filter = { ...(await toFilter(db, accountId, filters)), ...resolved?.filter }
  const { count, isComplete } = await countMatching(db, accountId, filter, maxExamined)
  if (isComplete) return { count, kind: 'exact' }
  // There are no stored counts by recipient, external ID or message ID.
  if (filter.to !== undefined || filter.externalId !== undefined || filter.idStart !== undefined)
    return { count, kind: 'minimum' }
  const period = { sinceDay: filters.from?.slice(0, 10), untilDay: filters.until?.slice(0, 10) }
  const estimate = isCounted(filter)
    ? await sumCounts(db, accountId, { ...period, ...filter })
    : Math.round((count / maxExamined) * (await sumCounts(db, accountId, period)))
  return estimate > count ? { count: estimate, kind: 'estimate' } : { count, kind: 'minimum' }
}

/** Pending messages are not in the counts. */
function isCounted({ template, whatsAppAccountId, country, parts, outcomeUnknown, status }: MessageFilter): boolean {
  const uncounted = [template, whatsAppAccountId, country, parts, outcomeUnknown]
  return uncounted.every((value) => value === undefined) && status !== 'pending'
}
