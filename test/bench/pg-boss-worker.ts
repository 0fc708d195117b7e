/**
 * Process: the baseline for deliveries. pg-boss 12 makes the signed POST of each job and records its outcome. It is
 * tuned: the fastest number of batches and workers, without a pause between full batches.
 */
import { createServer } from 'node:http'
import { PgBoss, type JobResult } from 'pg-boss'
import { listen } from './socket-server.ts'
import { queue } from './pg-boss-deliverer.ts'
import { createSignedPost, secret, type Webhook } from './callbacks.ts'

const post = createSignedPost(secret)
const boss = new PgBoss({ connectionString: process.env['DATABASE_URL'] ?? '', max: 16, schedule: false })
boss.on('error', (error) => console.error(error))
await boss.start()

await boss.work<Webhook>(
  queue,
  { batchSize: 100, localConcurrency: 4, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true, perJobResults: true },
  (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data }): Promise<JobResult> => {
        try {
          await post(data)
          return { id, status: 'completed' }
        } catch (error) {
          return { id, status: 'failed', output: String(error) }
        }
      }),
    ),
)

// Listening signals that it is ready.
await listen(createServer())
