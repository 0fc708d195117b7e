import { expect, onTestFinished, test } from 'vitest'
import { findEmbeddedDatabase } from '../../../src/platform/db/database.ts'
import { vacuumEmbedded } from '../../../src/platform/db/vacuum.ts'
import { openTestDatabase } from '../../support/database.ts'

test('leaves vacuuming on a PostgreSQL server to autovacuum', async () => {
  const { db, close } = await openTestDatabase()
  onTestFinished(close)

  expect(findEmbeddedDatabase(db)).toBeUndefined()
  expect(await vacuumEmbedded(db)).toEqual([])
})
