import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { EventType } from '../../contracts/events.ts'
import type { Deps } from '../../src/deps.ts'
import { encodeId, type IdPrefix } from '../../src/platform/ids.ts'
import { createWebhookSender } from '../../src/webhooks/sender/sender.ts'
import { createTestDeps } from './deps.ts'
import type { TestDatabase } from './database.ts'
import { insertEvents } from './events.ts'

/** Deps with a real webhook sender and a clock that advances by a second with each call. */
export function createEndpointDeps(database: TestDatabase): Deps {
  // Behind the clock of the database, which limits a recovery.
  let time = Date.now() - 86_400_000
  const now = () => new Date((time += 1000))
  return {
    ...createTestDeps(database),
    now,
    newId: (prefix) => encodeId(prefix, now().getTime(), randomBytes(10)),
    webhooks: createWebhookSender({ timeoutSeconds: 5, allowPrivate: true }),
  }
}

/** Inserts events with a delivery for each subscribed endpoint and returns their IDs. */
export async function emitEvents(
  deps: Pick<Deps, 'db' | 'newId' | 'now'>,
  accountId: string,
  count = 1,
  type: EventType = 'message.delivered',
): Promise<string[]> {
  const events = Array.from({ length: count }, () => ({
    accountId,
    id: deps.newId('evt'),
    type,
    messageId: 'msg_1',
    payload: '{}',
    createdAt: deps.now(),
  }))
  await insertEvents(deps.db, events, () => deps.newId('dlv'))
  return events.map(({ id }) => id)
}

/** Emits events with IDs of a minute ago, so that no clock is behind them. */
export function emitPastEvents(db: Deps['db'], accountId: string, count: number): Promise<string[]> {
  return emitEvents({ db, newId: newPastId, now: () => new Date() }, accountId, count)
}

function newPastId(prefix: IdPrefix): string {
  return encodeId(prefix, Date.now() - 60_000, randomBytes(10))
}

/** Seconds until each waiting delivery is due, by the database's clock. */
export async function readWaits(deps: Deps, endpointId: string): Promise<number[]> {
  const { rows } = await sql<{ wait: string }>`
    select extract(epoch from due_at - clock_timestamp()) as wait
    from webhook_deliveries where endpoint_id = ${endpointId} order by event_id`.execute(deps.db)
  return rows.map(({ wait }) => Number(wait))
}

/** Sets the state after a failed attempt or, with a higher generation, during the next one. */
export async function postpone(deps: Deps, eventId: string, seconds: number, { claimed = false } = {}): Promise<void> {
  await sql`
    update webhook_deliveries
    set due_at = now() + make_interval(secs => ${seconds}), generation = 2, attempts = 1, claimed = ${claimed}
    where event_id = ${eventId}`.execute(deps.db)
}
