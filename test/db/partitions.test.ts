import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPartitions, dropOldPartitions } from '../../src/db/partitions.ts'
import { encodeId } from '../../src/ids.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

const day = 86_400_000
const now = new Date('2030-03-06T12:00:00Z')

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

/** Records a message of that time; returns the partition that holds it. */
async function recordAt(time: Date): Promise<string> {
  const id = encodeId('msg', time.getTime(), new Uint8Array(10))
  const { rows } = await sql<{ partition: string }>`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at)
    values ('acc_1', ${id}, 'wa_1', 'sent', '34600111222', 't', 'en', ${time})
    returning tableoid::regclass::text as partition`.execute(database.db)
  return rows[0]?.partition ?? ''
}

async function countMessages(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from messages`.execute(database.db)
  return rows[0]?.count ?? 0
}

test('a message is kept with those of its week, and the coming weeks have their place', async () => {
  await createPartitions(database.db, now)
  await createPartitions(database.db, now)

  expect(await recordAt(now)).toBe('messages_20300304')
  expect(await recordAt(new Date('2030-03-04T00:00:00Z'))).toBe('messages_20300304')
  expect(await recordAt(new Date('2030-03-03T23:59:59.999Z'))).toBe('messages_rest')
  expect(await recordAt(new Date(now.getTime() + 28 * day))).toBe('messages_20300401')
  expect(await recordAt(new Date(now.getTime() + 400 * day))).toBe('messages_rest')
})

test('a migrated database has partitions for today', async () => {
  expect(await recordAt(new Date())).toMatch(/^messages_\d{8}$/)
})

test('whole weeks are dropped once their last day is older than the retention, and nothing younger', async () => {
  await createPartitions(database.db, now)
  await sql`delete from messages`.execute(database.db)
  await recordAt(now)
  await recordAt(new Date(now.getTime() - 40 * day))
  const in30Days = new Date('2030-04-09T23:59:59Z')

  expect((await dropOldPartitions(database.db, in30Days, 30)).filter((name) => name.includes('2030'))).toEqual([])
  expect(await countMessages()).toBe(1)

  const dropped = await dropOldPartitions(database.db, new Date('2030-04-10T00:00:00Z'), 30)
  expect(dropped.filter((name) => name.endsWith('20300304'))).toEqual([
    'messages_20300304',
    'events_20300304',
    'webhook_finished_deliveries_20300304',
    'webhook_attempts_20300304',
  ])
  expect(await countMessages()).toBe(0)
  expect(await recordAt(now)).toBe('messages_rest')
})
