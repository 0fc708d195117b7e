import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  countStalePending,
  resetStalePendingCursor,
  recordStalePending,
} from '../../../src/messages/status/stale-pending.ts'
import { encodeIdsInOrder } from '../../../src/platform/ids.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await openTestDatabase()
  await sql`update overdue_progress set looked_until = now() - interval '1 day'`.execute(database.db)
})
afterEach(() => database.close())

/** Records messages one second apart, by a node whose clock is an hour ahead. */
async function recordPending(count: number, { secondsAgo }: { secondsAgo: number }): Promise<void> {
  const ids = encodeIdsInOrder('msg', Date.now(), count, (size) => new Uint8Array(size))
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      created_at, recorded_at)
    select 'acc_1', id, 'wa_1', 'pending', '34600111222', 't', 'en', at + interval '1 hour', at
    from unnest(${ids}::text[]) with ordinality as numbered (id, n)
    cross join lateral (select now() - (${secondsAgo + count}::bigint - n) * interval '1 second' as at) time`.execute(
    database.db,
  )
}

async function listRecorded(): Promise<string[]> {
  const rows = await database.db.selectFrom('overdue_messages').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

test('counts a pending message after a minute until it has an outcome', async () => {
  await recordPending(1, { secondsAgo: 90 })
  expect(await countStalePending(database.db)).toMatchObject({ count: 1 })

  await recordStalePending(database.db)
  expect(await listRecorded()).toHaveLength(1)
  const { count, oldestSeconds } = await countStalePending(database.db)
  expect(count).toBe(1)
  expect(oldestSeconds).toBeGreaterThanOrEqual(90)

  await database.db.updateTable('messages').set({ status: 'delivered' }).execute()
  expect(await countStalePending(database.db)).toEqual({ count: 0, oldestSeconds: 0 })
  await recordStalePending(database.db)
  expect(await listRecorded()).toEqual([])
})

test('records all stale messages in batches and none twice', async () => {
  await recordPending(25, { secondsAgo: 61 })
  await database.db
    .updateTable('messages')
    .set({ status: 'sent' })
    .where('id', 'in', (await pendingIds()).slice(0, 3))
    .execute()
  const pending = await pendingIds()

  await recordStalePending(database.db, 4)
  await recordStalePending(database.db, 4)

  expect(await listRecorded()).toEqual(pending)
  expect(await countStalePending(database.db)).toMatchObject({ count: 22 })
})

test('records each message once when two nodes check at the same time', async () => {
  await recordPending(25, { secondsAgo: 61 })

  await Promise.all([recordStalePending(database.db, 4), recordStalePending(database.db, 4)])
  await recordStalePending(database.db, 4)

  expect(await listRecorded()).toEqual(await pendingIds())
})

test('leaves messages younger than a minute for the next check', async () => {
  await recordPending(1, { secondsAgo: 30 })

  await recordStalePending(database.db)

  expect(await listRecorded()).toEqual([])
  expect(await isLeftToCheck()).toBe(true)
})

test('checks messages again that are recorded after the clock was set back', async () => {
  await sql`update overdue_progress set looked_until = now() + interval '1 hour'`.execute(database.db)
  await recordPending(1, { secondsAgo: 30 })
  expect(await isLeftToCheck()).toBe(false)

  await resetStalePendingCursor(database.db)

  expect(await isLeftToCheck()).toBe(true)
})

test('counts only the messages of the last hours on request', async () => {
  await recordPending(2, { secondsAgo: 90 })
  const [oldest = ''] = await pendingIds()
  await sql`update messages set recorded_at = now() - interval '5 hours' where id = ${oldest}`.execute(database.db)

  expect(await countStalePending(database.db, { lastHours: 4 })).toMatchObject({ count: 1 })
  expect(await countStalePending(database.db)).toMatchObject({ count: 2 })
})

/** Whether the message has yet to be checked. */
async function isLeftToCheck(): Promise<boolean | undefined> {
  const { rows } = await sql<{ isLeft: boolean }>`
    select looked_until < (select min(recorded_at) from messages) as "isLeft" from overdue_progress`.execute(
    database.db,
  )
  return rows[0]?.isLeft
}

async function pendingIds(): Promise<string[]> {
  const rows = await database.db
    .selectFrom('messages')
    .select('id')
    .where('status', '=', 'pending')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
