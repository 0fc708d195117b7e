import { type Kysely, sql } from 'kysely'
import type { getServerFacts, SlowEndpoint } from '../../../../contracts/dashboard/operator.ts'
import type { OutputOf } from '../../../../contracts/procedure.ts'
import type { Deps } from '../../../deps.ts'
import { countStalePending } from '../../../messages/status/stale-pending.ts'
import { findEmbeddedDatabase } from '../../../platform/db/database.ts'
import type { Database } from '../../../platform/db/schema.ts'
import { readQueueState } from '../../../webhooks/queue/store.ts'
import { listProcesses } from '../../ops/process-report.ts'

export async function readServerFacts({ db }: Pick<Deps, 'db'>): Promise<OutputOf<typeof getServerFacts>> {
  const { accounts, ...database } = await readDatabaseFacts(db)
  const queue = await readQueueState(db)
  return {
    database: { ...database, embedded: findEmbeddedDatabase(db) !== undefined },
    accounts,
    queue: {
      lagSeconds: queue.oldestDueSeconds,
      waiting: queue.waiting,
      failingEndpoints: queue.failingEndpoints,
    },
    pending: await countStalePending(db),
    processes: await listProcesses(db),
  }
}

async function readDatabaseFacts(db: Kysely<Database>) {
  const { rows } = await sql<{ bytes: number; version: string; total: number; suspended: number }>`
    select pg_database_size(current_database())::float8 as bytes, current_setting('server_version') as version,
      count(*)::integer as total, count(suspended_at)::integer as suspended
    from accounts`.execute(db)
  const row = rows[0]
  if (!row) throw new Error('an aggregate query returned no row')
  const { total, suspended, bytes, version } = row
  // Distributions add their own version, as in `17.5 (Debian 17.5-1)`.
  return { bytes, postgresVersion: version.split(' ', 1)[0] ?? version, accounts: { total, suspended } }
}

const maxSlowEndpoints = 10

/** Reads all accounts, for operators only. An index on `slot` finds the attempt counts of the last hour. */
export async function listSlowEndpoints(db: Kysely<Database>): Promise<SlowEndpoint[]> {
  const { rows } = await sql<Omit<SlowEndpoint, 'host'> & { url: string }>`
    select a.id as "accountId", a.name as "accountName", e.id as "endpointId", e.url, counted.attempts, counted.failed,
      counted.average as "averageMilliseconds", counted.slowest as "slowestMilliseconds"
    from (
      select account_id, endpoint_id, sum(attempts)::integer as attempts,
        coalesce(sum(attempts) filter (where error <> ''), 0)::integer as failed,
        (sum(duration_ms) / sum(attempts))::float8 as average, max(max_duration_ms)::float8 as slowest
      from webhook_attempt_counts
      where slot >= date_bin('15 minutes', now(), 'epoch') - interval '1 hour'
      group by account_id, endpoint_id
    ) counted
    join webhook_endpoints e on e.id = counted.endpoint_id and e.account_id = counted.account_id
    join accounts a on a.id = e.account_id
    order by counted.average desc, e.id
    limit ${maxSlowEndpoints}`.execute(db)
  return rows.map(({ url, ...endpoint }) => ({ ...endpoint, host: new URL(url).host }))
}
