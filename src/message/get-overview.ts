import type { z } from 'zod'
import type { getOverview as contract, Overview } from '../../contracts/settings/overview.ts'
import type { Deps } from '../deps.ts'
import { findCounts } from './count-store.ts'
import { listDays, toOverview } from './overview.ts'

/** From counts that are kept beside the messages; it reads none of them. */
export async function getOverview(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  { accountId, days }: z.output<(typeof contract)['input']>,
): Promise<Overview> {
  const listed = listDays(now(), days)
  return toOverview(listed, await findCounts(db, accountId, listed[0] ?? ''))
}
