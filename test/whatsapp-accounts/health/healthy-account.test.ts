import fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createCallbackTimeRecorder } from '../../../src/whatsapp-accounts/health/callback-times.ts'
import { measureTraffic } from '../../../src/whatsapp-accounts/health/traffic.ts'
import { readAccountHealth } from '../../../src/whatsapp-accounts/health/read.ts'
import type { Database } from '../../../src/platform/db/schema.ts'
import { announceThresholds } from '../../../src/webhooks/alerts/rules/announce-thresholds.ts'
import { updateAlertRules } from '../../../src/webhooks/alerts/settings.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { withSettableClock } from '../../support/settable-clock.ts'

const second = 1000
const minute = 60 * second

const server = await forFile(startTestServer())
const settable = await withSettableClock(server.database)
afterEach(() => vi.restoreAllMocks())
afterAll(() => settable.db.destroy())

/** A message that WhatsApp accepted, and the statuses that it reports. Times are in milliseconds. */
interface Sent {
  /** Since the message before. */
  gap: number
  /** From the acceptance to the status `sent`. */
  firstStatusAfter: number
  /** From then to the status `delivered`; undefined if the recipient stays offline. */
  deliveredAfter: number | undefined
  /** The process that receives the callbacks. */
  node: 0 | 1
}

interface Schedule {
  sends: Sent[]
  /** When the processes restart, from the first message on. They forget which times they stored. */
  restarts: number[]
  /** When the traffic is first measured. It is measured every minute from then on. */
  phase: number
  /** How far the clock of the database is ahead of that of the servers. */
  skew: number
}

const milliseconds = (min: number, max: number) => fc.integer({ min, max })

const schedules: fc.Arbitrary<Schedule> = fc.record({
  sends: fc.array(
    fc.record({
      gap: fc.oneof(
        { weight: 4, arbitrary: milliseconds(1, 2 * second) },
        { weight: 4, arbitrary: milliseconds(1, 30 * second) },
        { weight: 1, arbitrary: milliseconds(1, 25 * minute) },
      ),
      firstStatusAfter: fc.oneof(
        { weight: 8, arbitrary: milliseconds(300, 10 * second) },
        // WhatsApp repeats a callback that failed.
        { weight: 1, arbitrary: milliseconds(300, 4 * minute) },
      ),
      deliveredAfter: fc.option(fc.oneof(milliseconds(1, 2 * second), milliseconds(1, 40 * minute)), {
        nil: undefined,
        freq: 2,
      }),
      node: fc.constantFrom(0, 1),
    }),
    { minLength: 1, maxLength: 30 },
  ),
  restarts: fc.array(milliseconds(0, 60 * minute), { maxLength: 4 }),
  phase: milliseconds(0, minute),
  skew: milliseconds(-200, 200),
})

interface Step {
  at: number
  run: () => Promise<void>
}

/** Runs a schedule on an account of its own, with the code of the server and the clocks of the schedule. */
async function play(db: Kysely<Database>, account: TestAccount, schedule: Schedule): Promise<void> {
  const start = Date.now()
  let elapsed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => elapsed)
  const deps = { ...server.deps, db, now: () => new Date(start + elapsed) }
  const nodes = [createCallbackTimeRecorder(deps), createCallbackTimeRecorder(deps)]

  const setClock = async (at: number) => {
    elapsed = at
    const target = (start + at + schedule.skew) / second
    await sql`update clock_shift set seconds = ${target}::float8 - extract(epoch from pg_catalog.clock_timestamp())`.execute(
      db,
    )
  }
  const insert = async (id: string) => {
    await db
      .insertInto('messages')
      .values({
        account_id: account.accountId,
        id,
        whatsapp_account_id: account.whatsAppAccountId,
        status: 'sent',
        to_number: '34600111222',
        template_name: 't',
        template_language: 'en',
        created_at: deps.now(),
      })
      .execute()
  }
  const deliver = async (id: string) => {
    await db
      .updateTable('messages')
      .set({ status: 'delivered' })
      .where('account_id', '=', account.accountId)
      .where('id', '=', id)
      .execute()
  }
  const findProblems = async () => {
    await measureTraffic(deps)
    await announceThresholds(deps)
    const health = await readAccountHealth(deps, account.accountId)
    const findings = health.whatsAppAccounts.flatMap((number) => number.findings.map(({ code }) => code))
    const alerts = await db.selectFrom('alerts').select('code').where('account_id', '=', account.accountId).execute()
    return [...findings, ...alerts.map(({ code }) => `alert ${code}`)]
  }

  const steps: Step[] = []
  let sentAt = 0
  for (const { gap, firstStatusAfter, deliveredAfter, node } of schedule.sends) {
    sentAt += gap
    const id = deps.newId('msg', new Date(start + sentAt))
    const firstStatusAt = sentAt + firstStatusAfter
    const report = () => nodes[node]?.([account.whatsAppAccountId], 'statuses')
    steps.push({ at: sentAt, run: () => insert(id) }, { at: firstStatusAt, run: async () => report() })
    if (deliveredAfter === undefined) continue
    steps.push({ at: firstStatusAt + deliveredAfter, run: () => deliver(id).then(report) })
  }
  const end = Math.max(...steps.map(({ at }) => at)) + 15 * minute
  for (const at of schedule.restarts)
    steps.push({ at, run: async () => void nodes.fill(createCallbackTimeRecorder(deps)) })
  for (let at = schedule.phase; at < end; at += minute)
    steps.push({ at, run: async () => expect({ at, problems: await findProblems() }).toEqual({ at, problems: [] }) })

  for (const { at, run } of steps.toSorted((a, b) => a.at - b.at)) {
    await setClock(at)
    await run()
  }

  // The same account is reported once statuses stop.
  await setClock(end)
  await insert(deps.newId('msg', deps.now()))
  await setClock(end + 12 * minute)
  expect(await findProblems()).toEqual(expect.arrayContaining(['no_statuses', 'alert no_statuses']))
}

test('reports no healthy account, whatever the times of its messages, statuses, restarts and measurements', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const account = await server.account()
      await updateAlertRules(server.deps, account.accountId, { noStatusMinMessages: 1 })
      // One connection runs the statements in the order in which they are issued, also those in the background.
      await settable.db.connection().execute((db) => play(db, account, schedule))
    }),
    // A slow machine tries fewer schedules, and shrinking a failure ends in time to print its seed.
    { numRuns: 20, interruptAfterTimeLimit: 60_000 },
  )
})
