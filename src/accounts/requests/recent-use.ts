import { type Kysely, sql } from 'kysely'
import { restContracts } from '../../../contracts/index.ts'
import { listProcedures } from '../../../contracts/procedure.ts'
import { dayMilliseconds } from '../../../contracts/time.ts'
import type { RecentUse } from '../../../contracts/dashboard/public-api.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstRequestIdAt, timeOfRequestId } from '../../platform/ids.ts'

const minuteMilliseconds = 60_000
/** Examining this many takes a few milliseconds. */
const defaultMaxExamined = 10_000
const maxAddresses = 20
/** Of the procedures that count towards the rate limit, as REST and tRPC call them. */
const sendPaths = listProcedures(restContracts)
  .filter(({ contract }) => contract.budget === 'sends')
  .flatMap(({ name, contract }) => [contract.path, `/trpc/${name}`])

/** Returns which addresses called the API in the last day, and how close the account came to its rate limit. */
export async function getRecentUse(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  maxExamined: number = defaultMaxExamined,
): Promise<RecentUse> {
  const dayAgo = new Date(now().getTime() - dayMilliseconds)
  const fromId = firstRequestIdAt(dayAgo)
  const [found, rejected] = await Promise.all([
    findUse(db, accountId, fromId, maxExamined),
    countRejected(db, accountId, fromId, maxExamined),
  ])
  const { addresses, minute, sends, examined, oldestId } = found
  const isPartial = examined >= maxExamined && oldestId !== null
  return {
    since: (isPartial ? timeOfRequestId(oldestId) : dayAgo).toISOString(),
    addresses,
    ...(minute !== null &&
      sends !== null && {
        highestMinute: { at: new Date(minute * minuteMilliseconds).toISOString(), sends },
      }),
    rejected,
  }
}

interface FoundUse {
  addresses: string[]
  /** Minutes since 1970. */
  minute: number | null
  sends: number | null
  examined: number
  oldestId: string | null
}

const noUse: FoundUse = { addresses: [], minute: null, sends: null, examined: 0, oldestId: null }

/** The minute is computed from the request ID, which contains the time in milliseconds as hexadecimal digits. */
async function findUse(
  db: Kysely<Database>,
  accountId: string,
  fromId: string,
  maxExamined: number,
): Promise<FoundUse> {
  const { rows } = await sql<FoundUse>`
    with recent as materialized (
      select id, path, address, error_code, message_ids from api_requests
      where account_id = ${accountId} and id >= ${fromId} order by id desc limit ${sql.lit(maxExamined)}
    ), highest as (
      select ('x' || substr(id, 5, 12))::bit(48)::bigint / ${sql.lit(minuteMilliseconds)} as minute,
        sum(coalesce(1 + length(message_ids) - length(replace(message_ids, '+', '')), 1))::integer as sends
      from recent
      where message_ids is not null
        or (path = any (${sendPaths}::text[]) and coalesce(error_code, '') not in ('IP_NOT_ALLOWED', 'API_DISABLED'))
      group by 1 order by 2 desc, 1 desc limit 1
    )
    select
      array(
        select address from recent where error_code is distinct from 'IP_NOT_ALLOWED'
        group by address order by count(*) desc, address limit ${sql.lit(maxAddresses)}
      ) as addresses,
      (select minute::float8 from highest) as minute, (select sends from highest) as sends,
      (select count(*)::integer from recent) as examined, (select min(id) from recent) as "oldestId"`.execute(db)
  return rows[0] ?? noUse
}

/** Examines failures only, which have their own index. */
async function countRejected(
  db: Kysely<Database>,
  accountId: string,
  fromId: string,
  maxExamined: number,
): Promise<RecentUse['rejected']> {
  const { rows } = await sql<RecentUse['rejected']>`
    select
      count(*) filter (where error_code = 'RATE_LIMIT_EXCEEDED')::integer as "rateLimit",
      count(*) filter (where error_code = 'CODE_LIMIT_EXCEEDED')::integer as "codeLimit",
      count(*) filter (where error_code = 'WHATSAPP_THROTTLED')::integer as "whatsApp"
    from (
      select error_code from api_requests
      where account_id = ${accountId} and id >= ${fromId} and error_code is not null
      order by id desc limit ${sql.lit(maxExamined)}
    ) failed`.execute(db)
  return rows[0] ?? { rateLimit: 0, codeLimit: 0, whatsApp: 0 }
}
