import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { webhooks } from '../../contracts/events.ts'
import type { Deliverer } from './deliverer.ts'
import type { Webhook } from './callbacks.ts'
import type { Stage } from './stage.ts'
import { startProcess, until } from './start-process.ts'

export const queue = 'webhooks'

/** pg-boss with one job per webhook. */
export async function startPgBossDeliverer(stage: Stage, urls: string[]): Promise<Deliverer> {
  await using resources = new AsyncDisposableStack()
  const databaseUrl = await stage.createDatabase()
  const boss = await new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false }).start()
  resources.defer(() => boss.stop())
  // A separate table, as pg-boss recommends for a large queue.
  await boss.createQueue(queue, { partition: true })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  resources.defer(() => client.end())
  resources.use(await startProcess('test/bench/pg-boss-worker.ts', { environment: { DATABASE_URL: databaseUrl } }))
  const kept = resources.move()
  let queued = 0
  return {
    deliver: async (count) => {
      const jobs = Array.from({ length: count }, (_, index) => ({ data: toWebhook(urls, queued + index) }))
      queued += count
      // In one transaction, so that the workers find all jobs at once.
      await client.query('begin')
      await boss.insert(queue, jobs, { db: { executeSql: (text, values) => client.query(text, values) } })
      await client.query('analyze')
      await client.query('commit')
    },
    settled: () => until(async () => (await countCompleted(client)) === queued),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const payload = JSON.stringify(webhooks['message.delivered'].example)

function toWebhook(urls: string[], number: number): Webhook {
  return { url: urls[number % urls.length] ?? '', id: `evt_01kah3bc4p${String(number).padStart(16, '0')}`, payload }
}

async function countCompleted(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::integer as count from pgboss.job where name = $1 and state = 'completed'`,
    [queue],
  )
  return rows[0]?.count ?? 0
}
