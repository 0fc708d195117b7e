import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createPartitions, dropOldPartitions } from '../../../src/platform/db/partitions.ts'
import { encodeId } from '../../../src/platform/ids.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { lockWaits } from '../../support/lock-waits.ts'

const day = 86_400_000
const now = new Date('2030-03-06T12:00:00Z')

const database = await forFile(openTestDatabase())

/** Records a message at that time and returns its partition. */
async function recordAt(time: Date): Promise<string> {
  const id = encodeId('msg', time.getTime(), new Uint8Array(10))
  const { rows } = await sql<{ partition: string }>`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at)
    values ('acc_1', ${id}, 'wa_1', 'sent', '34600111222', 't', 'en', ${time})
    returning tableoid::regclass::text as partition`.execute(database.db)
  return rows[0]?.partition ?? ''
}

async function listPartitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relispartition and relkind = 'r'`.execute(database.db)
  return rows.map((row) => row.name)
}

async function countMessages(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from messages`.execute(database.db)
  return rows[0]?.count ?? 0
}

test('stores messages by week and creates the coming weeks in advance', async () => {
  await createPartitions(database.db, now)
  await createPartitions(database.db, now)

  expect(await recordAt(now)).toBe('messages_20300304')
  expect(await recordAt(new Date('2030-03-04T00:00:00Z'))).toBe('messages_20300304')
  expect(await recordAt(new Date('2030-03-03T23:59:59.999Z'))).toBe('messages_rest')
  expect(await recordAt(new Date(now.getTime() + 28 * day))).toBe('messages_20300401')
  expect(await recordAt(new Date(now.getTime() + 400 * day))).toBe('messages_rest')
})

test('creates current partitions during migration', async () => {
  expect(await recordAt(new Date())).toMatch(/^messages_\d{8}$/)
})

test('drops only weeks whose last day is older than the retention', async () => {
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
    'message_contents_20300304',
    'wa_message_ids_20300304',
    'events_20300304',
    'webhook_finished_deliveries_20300304',
    'webhook_attempts_20300304',
    'api_requests_20300304',
  ])
  expect(await countMessages()).toBe(0)
  expect(await recordAt(now)).toBe('messages_rest')
})

test('drops API requests after their own number of days', async () => {
  const start = new Date('2031-03-05T12:00:00Z')
  await createPartitions(database.db, start)

  const dropped = await dropOldPartitions(database.db, new Date(start.getTime() + 14 * day), 30, { api_requests: 7 })
  expect(dropped.filter((name) => name.endsWith('20310303'))).toEqual(['api_requests_20310303'])
})

test('drops nothing, and fails on nothing, if everything is kept for longer than there has been a calendar', async () => {
  expect(await dropOldPartitions(database.db, new Date(), 1_000_000)).toEqual([])
})

test('moves rows of a fast clock from the default partition to their week', async () => {
  const later = new Date('2032-05-12T12:00:00Z')
  expect(await recordAt(later)).toBe('messages_rest')
  expect(await recordAt(new Date(later.getTime() + 100 * day))).toBe('messages_rest')
  const before = await countMessages()

  expect(await createPartitions(database.db, later)).toEqual([])

  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from messages_20320510`.execute(database.db)
  expect(rows).toEqual([{ count: 1 }])
  expect(await countMessages()).toBe(before)
  expect((await listPartitions()).filter((name) => name.endsWith('_20320607'))).toHaveLength(7)
})

test('skips a locked table without blocking others and creates the weeks of the other tables', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  const later = new Date('2034-05-10T12:00:00Z')
  await createPartitions(database.db, now)
  await database.db.transaction().execute(async (reader) => {
    await sql`select count(*) from messages_rest`.execute(reader)

    const making = createPartitions(database.db, later)
    await expect.poll(() => lockWaits(database.db)).not.toEqual([])
    expect(await recordAt(now)).toBe('messages_20300304')
    expect(await making).toMatchObject([{ partition: 'messages_20340508', error: { code: '55P03' } }])
  })

  const made = (await listPartitions()).filter((name) => name.endsWith('_20340508'))
  expect(made).toHaveLength(6)
  expect(made).not.toContain('messages_20340508')
  expect(await createPartitions(database.db, later)).toEqual([])
})

test('fails without partitions if they cannot be created', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  for (const name of (await listPartitions()).filter((candidate) => candidate.startsWith('webhook_attempts_')))
    await sql.raw(`drop table ${name}`).execute(database.db)

  await database.db.transaction().execute(async (reader) => {
    await sql`select count(*) from webhook_attempts`.execute(reader)
    await expect(createPartitions(database.db, now)).rejects.toMatchObject({ code: '55P03' })
  })
})
