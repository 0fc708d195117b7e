import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Claim, claimDueDeliveries } from '../../../src/webhooks/queue/store.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestWebhooks } from '../../support/webhooks.ts'

const database = await forFile(openTestDatabase())
const webhooks = await forFile(startTestWebhooks(database))

const claim: Claim = {
  leaseSeconds: 60,
  limit: 100,
  afterEndpointId: '',
  capacities: [],
  defaultWindow: 100,
  failingWindow: 1,
}

test('skips deliveries that another worker has locked', async () => {
  await webhooks.addEndpoint('http://127.0.0.1:9/')
  await webhooks.emit(3)
  const [locked, ...others] = (await webhooks.deliveries()).map(({ id }) => id)

  const claimed = await database.db.transaction().execute(async (holder) => {
    await holder.selectFrom('webhook_deliveries').select('id').where('id', '=', String(locked)).forUpdate().execute()
    return database.db.transaction().execute(async (claimer) => {
      await sql`set local lock_timeout = '2s'`.execute(claimer)
      return claimDueDeliveries(claimer, claim)
    })
  })

  expect(claimed.map(({ id }) => id).toSorted()).toEqual(others.toSorted())
  const next = await claimDueDeliveries(database.db, claim)
  expect(next.map(({ id }) => id)).toEqual([locked])
})
