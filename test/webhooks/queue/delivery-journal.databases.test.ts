import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JournalLocation, Replay } from '../../../src/platform/journal.ts'
import { openDeliveryJournal, startDeliveryJournalReplay } from '../../../src/webhooks/queue/delivery-journal.ts'
import { recoverPart } from '../../../src/webhooks/deliveries/recover.ts'
import { requeueDelivery } from '../../../src/webhooks/deliveries/store.ts'
import { claimDueDeliveries, type EndedAttempt, recordAttempts } from '../../../src/webhooks/queue/store.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestWebhooks } from '../../support/webhooks.ts'

const log = pino({ level: 'silent' })
const startedAt = new Date('2026-11-20T10:00:00Z')

const database = await forFile(openTestDatabase())
const webhooks = await forFile(startTestWebhooks(database))
let location: JournalLocation
let replay: Replay | undefined
beforeEach(() => {
  location = { folder: mkdtempSync(path.join(tmpdir(), 'waybill-journal-')), database: 'db-1', bootId: 'boot-1' }
})
afterEach(async () => {
  await replay?.stop()
  replay = undefined
  rmSync(location.folder, { recursive: true })
  await webhooks.reset()
})

function attemptOf(delivery: EndedAttempt['delivery']): EndedAttempt {
  const result = { outcome: 'delivered', statusCode: 204, durationMilliseconds: 12.4 } as const
  return { delivery, result, startedAt, waitSeconds: undefined }
}

const claim = { leaseSeconds: 30, limit: 1, afterEndpointId: '', capacities: [], defaultWindow: 4, failingWindow: 4 }

/** Claims the only delivery, and acknowledges it like a process that dies before it records that. */
async function acknowledgeAndDie(): Promise<EndedAttempt['delivery']> {
  const [delivery] = await claimDueDeliveries(database.db, claim)
  if (!delivery) throw new Error('no delivery is due')
  const journal = openDeliveryJournal(location, log)
  journal.acknowledged(attemptOf(delivery))
  journal.close()
  return delivery
}

test('records an acknowledged attempt of a dead process', async () => {
  await webhooks.addEndpoint('http://127.0.0.1:9/hook')
  const [eventId = ''] = await webhooks.emit()
  await acknowledgeAndDie()

  replay = startDeliveryJournalReplay({ db: database.db, log }, location)

  await expect.poll(() => webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
  expect(await webhooks.attempts(eventId)).toEqual([{ number: 1, status_code: 204, error: null }])
  await expect.poll(() => readdirSync(location.folder)).toEqual([])
})

/** Claims are committed without waiting for the disk. */
const unclaimed = { due_at: new Date(0), generation: 0, claimed: false }

test.each([
  ['whose lease has ended', { due_at: new Date(0) }],
  ['whose claim was lost when the database crashed', unclaimed],
])('records an attempt %s', async (_which, state) => {
  await webhooks.addEndpoint('http://127.0.0.1:9/hook')
  await webhooks.emit()
  await acknowledgeAndDie()
  await database.db.updateTable('webhook_deliveries').set(state).execute()

  replay = startDeliveryJournalReplay({ db: database.db, log }, location)

  await expect.poll(() => webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
})

test('records an attempt of this process whose claim was lost when the database crashed', async () => {
  await webhooks.addEndpoint('http://127.0.0.1:9/hook')
  await webhooks.emit()
  const delivery = await acknowledgeAndDie()
  await database.db.updateTable('webhook_deliveries').set(unclaimed).execute()

  expect((await recordAttempts(database.db, [attemptOf(delivery)])).lost).toEqual(new Set())

  expect(await webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
})

interface Queued {
  delivery: EndedAttempt['delivery']
  endpointId: string
}

const requeue = async ({ delivery }: Queued) => {
  await recordAttempts(database.db, [attemptOf(delivery)])
  await requeueDelivery(database.db, delivery.accountId, delivery.id)
}

/** Only failed deliveries are recovered. */
const recover = async ({ delivery, endpointId }: Queued) => {
  const failed = { outcome: 'failed', statusCode: 500, durationMilliseconds: 1 } as const
  await recordAttempts(database.db, [{ ...attemptOf(delivery), result: failed }])
  const since = new Date(Date.now() - 60_000).toISOString()
  await recoverPart(webhooks.deps, { accountId: delivery.accountId, endpointId, since })
}

test.each([
  { what: 'queued again', queueAgain: requeue, claims: false },
  { what: 'queued again and claimed', queueAgain: requeue, claims: true },
  { what: 'recovered', queueAgain: recover, claims: false },
])('leaves a delivery that was $what', async ({ queueAgain, claims }) => {
  const { endpointId } = await webhooks.addEndpoint('http://127.0.0.1:9/hook')
  await webhooks.emit()
  const delivery = await acknowledgeAndDie()
  await queueAgain({ delivery, endpointId })
  if (claims) await claimDueDeliveries(database.db, claim)

  replay = startDeliveryJournalReplay({ db: database.db, log }, location)

  await expect.poll(() => readdirSync(location.folder)).toEqual([])
  expect(await webhooks.finished()).toEqual([])
  expect(await webhooks.deliveries()).toMatchObject([{ id: delivery.id, attempts: 0 }])
})

test('leaves a delivery that was claimed again', async () => {
  await webhooks.addEndpoint('http://127.0.0.1:9/hook')
  await webhooks.emit()
  await acknowledgeAndDie()
  await database.db
    .updateTable('webhook_deliveries')
    .set(({ eb }) => ({ generation: eb('generation', '+', 1) }))
    .execute()

  replay = startDeliveryJournalReplay({ db: database.db, log }, location)

  await expect.poll(() => readdirSync(location.folder)).toEqual([])
  expect(await webhooks.finished()).toEqual([])
  expect(await webhooks.deliveries()).toMatchObject([{ attempts: 0, generation: 2 }])
})
