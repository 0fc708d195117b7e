import type { FailureReasons, listFailureReasons as contract } from '../../../contracts/dashboard/message.ts'
import { noReason } from '../../../contracts/fields.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { countReasons } from '../store.ts'
import { maxCounted } from './count.ts'
import { toFilter } from './list.ts'
import { pickMeaning } from '../../whatsapp/failure-advice.ts'
import { explainFailure } from './overview.ts'
import { resolveSearch } from './search.ts'

const maxListed = 10

/** Examines at most as many messages as a count does. */
export async function listFailureReasons(
  { db }: Pick<Deps, 'db'>,
  { accountId }: Caller,
  { search, parts, ...filters }: Omit<InputOf<typeof contract>, 'accountId'>,
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
  for (const { code, count } of counts) byCode.set(code || noReason, (byCode.get(code || noReason) ?? 0) + count)
  return [...byCode]
    .map(([code, count]) => ({ code, count }))
    .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
}
