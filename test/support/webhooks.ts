import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { pino } from 'pino'
import type { MessageEvent } from '../../contracts/events.ts'
import { createAccount } from '../../src/accounts/account.ts'
import type { Deps } from '../../src/deps.ts'
import { createLocalNotifications } from '../../src/platform/db/notifications.ts'
import { encodeId } from '../../src/platform/ids.ts'
import { createSecretBox } from '../../src/platform/secrets.ts'
import { createWebhookSender } from '../../src/webhooks/sender/sender.ts'
import { addEndpoint, type NewEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { Worker, type WorkerOptions } from '../../src/webhooks/queue/worker.ts'
import type { TestDatabase } from './database.ts'
import { insertEvents } from './events.ts'

export type WebhookDeps = Pick<
  Deps,
  'db' | 'webhooks' | 'notifications' | 'secrets' | 'log' | 'now' | 'newId' | 'randomBytes'
>

/** Its timeout is longer than an attempt takes on any machine. */
export const webhookConfig = { timeoutSeconds: 60, retrySeconds: [0.05, 0.1, 3600], allowPrivate: true }

/** Webhook workers on a real database with their deliveries. */
export interface TestWebhooks {
  deps: WebhookDeps
  accountId: string
  startWorker(options?: WorkerOptions): Worker
  addEndpoint(url: string, input?: Partial<NewEndpoint>): Promise<{ endpointId: string; secret: string }>
  /** Inserts events with a due delivery for each endpoint and returns their IDs. */
  emit(count?: number): Promise<string[]>
  /** Inserts many due deliveries of one event. */
  fillQueue(endpointId: string, count: number): Promise<void>
  deliveries(endpointId?: string): Promise<{ id: string; attempts: number; generation: number; dueInSeconds: number }[]>
  finished(): Promise<{ event_id: string; outcome: string; attempts: number }[]>
  attempts(eventId: string): Promise<{ number: number; status_code: number | null; error: string | null }[]>
  endpoint(
    endpointId: string,
  ): Promise<{ enabled: boolean; disabled_reason: string | null; failing_since: Date | null }>
  /** Stops the workers and deletes all deliveries and endpoints. */
  reset(): Promise<void>
  close(): Promise<void>
}

export async function startTestWebhooks(
  { db }: Pick<TestDatabase, 'db'>,
  given: Partial<WebhookDeps> = {},
  config: typeof webhookConfig = webhookConfig,
): Promise<TestWebhooks> {
  const deps: WebhookDeps = {
    db,
    webhooks: createWebhookSender(config),
    notifications: createLocalNotifications(),
    secrets: createSecretBox([randomBytes(32)], randomBytes),
    log: pino({ level: 'silent' }),
    now: () => new Date(),
    newId: (prefix, at) => encodeId(prefix, at?.getTime() ?? Date.now(), randomBytes(10)),
    randomBytes,
    ...given,
  }
  const { accountId } = await createAccount(deps, { name: 'Webhooks' })
  const workers: Worker[] = []
  const stopWorkers = () => Promise.all(workers.splice(0).map((worker) => worker.stop({ graceMilliseconds: 0 })))
  const emit = async (count = 1) => {
    const events = Array.from({ length: count }, () => newEvent(deps, accountId))
    await insertEvents(db, events, () => deps.newId('dlv'))
    deps.notifications.notify('deliveries')
    return events.map((event) => event.id)
  }
  return {
    deps,
    accountId,
    startWorker: (options) => {
      const worker = new Worker(deps, config, { pollMilliseconds: 20, random: () => 0, ...options })
      workers.push(worker)
      worker.start()
      return worker
    },
    addEndpoint: (url, input) => addEndpoint(deps, accountId, { url, ...input }),
    emit,
    fillQueue: async (endpointId, count) => {
      const [eventId = ''] = await emit()
      const deliveryId = deps.newId('dlv')
      await sql`
        insert into webhook_deliveries (account_id, id, endpoint_id, event_id, due_at, created_at)
        select ${accountId}, ${deliveryId} || '_' || n, ${endpointId}, ${eventId}, now(), now()
        from generate_series(1, ${count}::integer) n`.execute(db)
    },
    deliveries: async (endpointId) => {
      const query = db
        .selectFrom('webhook_deliveries')
        .orderBy('id')
        .select([
          'id',
          'attempts',
          'generation',
          sql<number>`extract(epoch from due_at - now())::float8`.as('dueInSeconds'),
        ])
      return (endpointId === undefined ? query : query.where('endpoint_id', '=', endpointId)).execute()
    },
    finished: () =>
      db
        .selectFrom('webhook_finished_deliveries')
        .select(['event_id', 'outcome', 'attempts'])
        .orderBy('event_id')
        .orderBy('endpoint_id')
        .execute(),
    attempts: (eventId) =>
      db
        .selectFrom('webhook_attempts')
        .select(['number', 'status_code', 'error'])
        .where('event_id', '=', eventId)
        .orderBy('number')
        .execute(),
    endpoint: (endpointId) =>
      db
        .selectFrom('webhook_endpoints')
        .select(['enabled', 'disabled_reason', 'failing_since'])
        .where('id', '=', endpointId)
        .executeTakeFirstOrThrow(),
    reset: async () => {
      await stopWorkers()
      for (const table of ['webhook_deliveries', 'webhook_endpoints', 'events'] as const)
        await db.deleteFrom(table).execute()
      for (const table of ['webhook_finished_deliveries', 'webhook_attempts'] as const)
        await db.deleteFrom(table).execute()
    },
    close: async () => {
      await stopWorkers()
      await deps.webhooks.close()
    },
  }
}

function newEvent(deps: Pick<Deps, 'newId'>, accountId: string) {
  const messageId = deps.newId('msg')
  const createdAt = new Date()
  const event: MessageEvent = {
    type: 'message.delivered',
    timestamp: createdAt.toISOString(),
    data: {
      messageId,
      waMessageId: `wamid.${messageId}`,
      status: 'delivered',
      to: '34600111222',
      template: 'order_shipped',
      language: 'en',
      accountId: deps.newId('wa'),
    },
  }
  const payload = JSON.stringify(event)
  return { accountId, id: deps.newId('evt'), type: event.type, messageId, payload, createdAt }
}
