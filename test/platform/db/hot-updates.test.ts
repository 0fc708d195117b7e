import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { forFile } from '../../support/lifetime.ts'
import { openTestDatabase } from '../../support/database.ts'
import { findEmbeddedDatabase } from '../../../src/platform/db/database.ts'
import { vacuumEmbedded } from '../../../src/platform/db/vacuum.ts'

const database = await forFile(openTestDatabase())

test('changes no indexed column when a status arrives', async () => {
  const { rows } = await sql<{ column: string }>`
    select distinct attname as column from pg_depend
    join pg_index on indexrelid = objid and indrelid = 'messages'::regclass
    join pg_attribute on attrelid = refobjid and attnum = refobjsubid
    where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass and refobjid = 'messages'::regclass
    union
    select distinct attname from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey)
    where indrelid = 'messages'::regclass`.execute(database.db)

  expect(rows.map(({ column }) => column).toSorted()).toEqual([
    'account_id',
    'external_id',
    'id',
    'recorded_at',
    'to_number',
  ])
})

const growing = ['messages', 'wa_message_ids', 'events', 'webhook_finished_deliveries', 'webhook_attempts']

test('sorts no index of a growing table by a locale, which the operating system may change', async () => {
  const { rows } = await sql<{ index: string; collation: string }>`
    select distinct indexrelid::regclass::text as index, collname as collation
    from pg_index
    cross join unnest(indcollation) as used
    join pg_collation c on c.oid = used
    where indrelid::regclass::text = any (${growing}) and collname <> 'C'`.execute(database.db)

  expect(rows).toEqual([])
})

test('indexes by account only in the primary key, and where few rows are indexed', async () => {
  const { rows } = await sql<{ index: string }>`
    select indexrelid::regclass::text as index
    from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
    where indrelid::regclass::text = any (${growing}) and attname = 'account_id' and not indisprimary
      and indpred is null`.execute(database.db)

  expect(rows).toEqual([])
})

test('leaves vacuuming on a PostgreSQL server to autovacuum', async () => {
  const { db, close } = await openTestDatabase()
  onTestFinished(close)

  expect(findEmbeddedDatabase(db)).toBeUndefined()
  expect(await vacuumEmbedded(db)).toEqual([])
})
