import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { readDatabaseClock } from '../../../src/platform/db/clock.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { updateEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import type { ClaimTerms } from '../../../src/webhooks/queue/attempts.ts'
import { type ClaimOptions, Claims } from '../../../src/webhooks/queue/claims.ts'
import { EndpointConcurrency, initialWindows } from '../../../src/webhooks/queue/endpoint-concurrency.ts'
import { type Claim, claimDueDeliveries, type ClaimedDelivery } from '../../../src/webhooks/queue/store.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestWebhooks } from '../../support/webhooks.ts'

const url = 'http://127.0.0.1:9'
const leaseSeconds = 30
/** An endpoint with this response time counts as slow. */
const slowMilliseconds = 2_000

const database = await forFile(openTestDatabase())
const webhooks = await forFile(startTestWebhooks(database))
afterEach(() => webhooks.reset())

/** The claims of one worker, whose attempts the test ends. */
function createClaims({ db = database.db, ...options }: Partial<ClaimOptions> & { db?: TestDatabase['db'] } = {}) {
  // A whole number: sums of fractions are rounded, and 999 ms and 1 ms may be less than a second.
  let time = Math.floor(performance.now())
  const concurrency = new EndpointConcurrency({ maxSlowHeld: 1_024 })
  const claimed: { delivery: ClaimedDelivery; terms: ClaimTerms }[] = []
  const states: ('lost' | 'back')[] = []
  const claims = new Claims(db, { leaseSeconds, maxHeld: 1_024, monotonic: () => time, ...options }, concurrency, {
    claimed: (delivery, terms) => {
      claimed.push({ delivery, terms })
      const { endpointId, endpointFailing: isFailing } = delivery
      const window = isFailing ? terms.windows.failingWindow : terms.windows.defaultWindow
      const { isLimited } = terms
      concurrency.begin(endpointId, { isFailing, window, isLimited }, time, () => {})
    },
    databaseLost: () => void states.push('lost'),
    databaseBack: () => void states.push('back'),
  })
  /** Ends the attempts of all claimed deliveries, or those of one endpoint. */
  const endAll = (milliseconds: number | undefined, endpointId?: string) => {
    const ended = claimed.filter(({ delivery }) => delivery.endpointId === (endpointId ?? delivery.endpointId))
    for (const { delivery } of ended)
      concurrency.end(
        delivery.endpointId,
        milliseconds === undefined ? { outcome: 'failed' } : { outcome: 'delivered', milliseconds },
        time,
      )
    for (const end of ended) claimed.splice(claimed.indexOf(end), 1)
  }
  return {
    claims,
    claimed,
    states,
    endAll,
    /** Number of endpoints whose state is kept. */
    known: () => concurrency.capacities({ of: 'all', limit: 1, unknownWindow: 1 }, time).length,
    endpoints: () => claimed.map(({ delivery }) => delivery.endpointId),
    now: () => time,
    pass: (milliseconds: number) => void (time += milliseconds),
  }
}

/** IDs in the order of claims. */
async function addEndpoints(count: number): Promise<string[]> {
  const added = await Promise.all(Array.from({ length: count }, (_, n) => webhooks.addEndpoint(`${url}/${n}`)))
  return added.map(({ endpointId }) => endpointId).toSorted()
}

/** Counts each endpoint's deliveries. */
function count(endpointIds: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    Map.groupBy(endpointIds, (id) => id)
      .entries()
      .map(([id, all]) => [id, all.length]),
  )
}

test('claims the due deliveries of all endpoints with a lease, and reports that there are no more', async () => {
  const [a = '', b = ''] = await addEndpoints(2)
  await webhooks.emit(3)
  const { claims, claimed, states, endpoints, now } = createClaims()
  expect(claims.isFull).toBe(false)
  expect(claims.dueAt(10_000, now()).allAt).toBeLessThanOrEqual(now())
  const before = await readDatabaseClock(database.db)

  expect(await claims.claimAll()).toEqual({ claimed: 6, isComplete: true })

  expect(count(endpoints())).toEqual({ [a]: 3, [b]: 3 })
  for (const { terms } of claimed) {
    expect(terms).toEqual({ windows: initialWindows, isLimited: false, sentAt: now() })
  }
  const { rows: leasedForLess } = await sql`
    select id from webhook_deliveries
    where due_at < ${before}::timestamptz + ${leaseSeconds} * interval '1 second'`.execute(database.db)
  expect(leasedForLess).toEqual([])
  expect(claims.isFull).toBe(false)
  expect(states).toEqual(['back'])
  expect(await claims.claimAll()).toEqual({ claimed: 0, isComplete: true })
  expect(await createClaims().claims.claimAll()).toEqual({ claimed: 0, isComplete: true })
})

test('is full at its limit, and claims again after attempts have ended', async () => {
  await addEndpoints(10)
  await webhooks.emit(40)
  const { claims, claimed, endAll } = createClaims({ maxHeld: 16 })
  await claims.claimAll()
  // Half of the slots are reserved for endpoints with a success, like this one.
  endAll(1)
  for (let turn = 0; turn < 10 && !claims.isFull; turn++) await claims.claimAll()
  expect(claims.isFull).toBe(true)
  expect(claimed.length).toBe(16)
  expect(await claims.claimAll()).toEqual({ claimed: 0, isComplete: true })
  expect(claimed.length).toBe(16)

  endAll(1)
  expect((await claims.claimAll()).claimed).toBeGreaterThan(0)
})

test('holds no more than its limit across claims for different kinds of endpoints', async () => {
  const [proven = '', ...unknown] = await addEndpoints(5)
  const { claims, claimed, endAll } = createClaims({ maxHeld: 16 })
  await webhooks.fillQueue(proven, 40)
  for (let turn = 0; turn < 6; turn++) {
    await claims.claimAll()
    endAll(1)
  }
  await database.db.deleteFrom('webhook_deliveries').execute()
  // Seven deliveries of endpoints without a result yet, which leave one slot for that kind.
  for (const [index, waiting] of [4, 2, 1].entries()) {
    await webhooks.fillQueue(unknown[index] ?? '', waiting)
    await sql`delete from webhook_deliveries where endpoint_id <> ${unknown[index]} and not claimed`.execute(
      database.db,
    )
    await claims.claimAll()
  }
  await webhooks.fillQueue(proven, 40)
  const before = claimed.length
  await claims.claimAll()
  expect(claimed.length).toBeGreaterThan(before)
  await claims.claimAll()
  expect(claimed.length).toBe(16)
  expect(claims.isFull).toBe(true)
})

test('continues after the endpoint at which a claim stopped, and starts over at the end', async () => {
  const ids = await addEndpoints(6)
  await webhooks.emit(8)
  // A quarter of 64: four endpoints with four deliveries each.
  const { claims, endpoints, endAll } = createClaims({ maxHeld: 64 })

  expect(await claims.claimAll()).toEqual({ claimed: 16, isComplete: true })
  expect(Object.keys(count(endpoints()))).toEqual(ids.slice(0, 4))
  endAll(1)
  expect(await claims.claimAll()).toEqual({ claimed: 8, isComplete: true })
  expect(Object.keys(count(endpoints()))).toEqual(ids.slice(4))
  endAll(1)
  // Deliveries may wait before the last endpoint, so an empty claim after a full one is not yet complete.
  expect(await claims.claimAll()).toMatchObject({ claimed: 16 })
  await sql`delete from webhook_deliveries where endpoint_id > ${endpoints().at(-1)}`.execute(database.db)
  endAll(1)
  expect(await claims.claimAll()).toEqual({ claimed: 0, isComplete: false })
  expect((await claims.claimAll()).isComplete).toBe(true)
})

test('claims for all slow endpoints together, every 50 ms', async () => {
  const [slow = '', quick = ''] = await addEndpoints(2)
  await webhooks.fillQueue(slow, 20)
  const { claims, claimed, endpoints, endAll, now, pass } = createClaims()
  const start = now()
  await claims.claimSlow()
  expect(claimed).toEqual([])
  await claims.claimAll()
  endAll(slowMilliseconds, slow)
  endAll(1, quick)

  await claims.claimSlow()
  expect(claimed).toEqual([])
  pass(50)
  await claims.claimSlow()
  expect(endpoints()).toContain(slow)
  const taken = claimed.length
  endAll(slowMilliseconds)

  pass(49)
  await claims.claimSlow()
  expect(claimed).toEqual([])
  expect(claims.dueAt(10_000, start + 99)).toEqual({ allAt: start + 10_000, othersAt: start + 100 })
  pass(1)
  await claims.claimSlow()
  expect(claimed.length).toBeGreaterThan(taken)
  // Slow and quick endpoints do not wait for each other.
  expect(endpoints()).not.toContain(quick)
})

test('checks every 50 ms for more deliveries of an endpoint whose attempts fail', async () => {
  const [failing = ''] = await addEndpoints(1)
  await webhooks.fillQueue(failing, 20)
  const { claims, endAll, now } = createClaims()
  await claims.claimAll()
  endAll(undefined)
  expect(claims.dueAt(10_000, now())).toEqual({ allAt: now() + 50, othersAt: Infinity })
  expect(claims.dueAt(10, now()).allAt).toBe(now() + 10)
})

test('does not check for more deliveries of an endpoint after its last due one', async () => {
  await addEndpoints(1)
  await webhooks.emit(1)
  const { claims, endAll, now } = createClaims()
  await claims.claimAll()
  endAll(undefined)
  expect(claims.dueAt(10_000, now()).allAt).toBe(now() + 10_000)
})

test('does not treat a claim of some endpoints as a claim of all', async () => {
  await addEndpoints(6)
  await webhooks.emit(8)
  const { claims, endAll, endpoints, now } = createClaims({ maxHeld: 64 })
  await claims.claimAll()
  const [first = ''] = endpoints()
  endAll(undefined, first)
  // This claim starts after the endpoints of the first, so it does not cover them.
  await claims.claimAll()
  expect(claims.dueAt(10_000, now()).allAt).toBe(now() + 50)
  endAll(1)
})

test('drops the state of idle endpoints while it claims for others', async () => {
  const [busy = ''] = await addEndpoints(3)
  await webhooks.emit(1)
  const { claims, endAll, known, pass } = createClaims()
  await claims.claimAll()
  endAll(1)
  expect(known()).toBe(3)

  for (let second = 0; second < 11; second++) {
    pass(1_000)
    await webhooks.fillQueue(busy, 1)
    await database.db.deleteFrom('webhook_deliveries').where('endpoint_id', '<>', busy).execute()
    expect((await claims.claimAll()).claimed).toBeGreaterThan(0)
    endAll(1)
  }
  expect(known()).toBe(1)
})

test('claims separately for endpoints with limits as soon as it finds one', async () => {
  const [limited = '', other = ''] = await addEndpoints(2)
  const { deps, accountId } = webhooks
  await updateEndpoint(deps, accountId, limited, { maxConcurrent: 2 })
  await webhooks.emit(4)
  const { claims, claimed, endpoints, endAll, now, pass } = createClaims()
  await claims.claimLimited()
  expect(claimed).toEqual([])

  await claims.claimAll()
  expect(count(endpoints())).toEqual({ [other]: 4 })
  await claims.claimLimited()
  expect(count(endpoints())).toEqual({ [limited]: 2, [other]: 4 })
  expect(claimed.at(-1)?.terms).toMatchObject({ isLimited: true, windows: initialWindows })
  await claims.claimLimited()
  expect(count(endpoints())).toEqual({ [limited]: 2, [other]: 4 })

  // Both slots are taken: it checks again after a while, or shortly after one is free.
  expect(claims.dueAt(10_000, now()).othersAt).toBe(now() + 50)
  endAll(slowMilliseconds, limited)
  endAll(1)
  await database.db.deleteFrom('webhook_deliveries').where('claimed', '=', true).execute()
  claims.limitedSlotFreed()
  expect(claims.dueAt(10_000, now()).othersAt).toBe(now() + 10)
  pass(10)
  await claims.claimLimited()
  expect(endpoints()).toEqual([limited, limited])

  await database.db.deleteFrom('webhook_deliveries').execute()
  claims.limitedSlotFreed()
  pass(10)
  await claims.claimLimited()
  expect(claims.dueAt(10_000, now()).othersAt).toBe(Infinity)
})

test('claims for an endpoint with limits, however many others are at their limit', async () => {
  const [free = ''] = await addEndpoints(1)
  await updateEndpoint(webhooks.deps, webhooks.accountId, free, { maxConcurrent: 1 })
  await sql`
    insert into webhook_endpoints (id, account_id, url, events, secret_encrypted, max_concurrent)
    select 'ep_full_' || n, account_id, url, events, secret_encrypted, 1
    from webhook_endpoints cross join generate_series(1, 100) n`.execute(database.db)
  await webhooks.emit(1)
  await sql`
    update webhook_deliveries set claimed = true, due_at = now() + interval '1 hour'
    where endpoint_id <> ${free}`.execute(database.db)
  await sql`update webhook_endpoints set paced_until = now() where id = ${free}`.execute(database.db)
  await webhooks.emit(1)
  const { claims, endpoints, now } = createClaims()

  await claims.claimAll()
  await claims.claimLimited()
  expect(endpoints()).toEqual([free])
  await claims.claimLimited()
  expect(claims.dueAt(10_000, now()).othersAt).toBe(now() + 50)
})

test('checks again when the rate of an endpoint with limits allows another delivery', async () => {
  const [paced = ''] = await addEndpoints(1)
  await updateEndpoint(webhooks.deps, webhooks.accountId, paced, { maxPerSecond: 1 })
  await webhooks.emit(2)
  const { claims, endpoints, now, pass } = createClaims()
  await claims.claimAll()
  await claims.claimLimited()
  expect(endpoints()).toEqual([paced])
  await eventually(async () => {
    await sql`update webhook_endpoints set paced_until = now() + interval '4 seconds'`.execute(database.db)
    claims.limitedSlotFreed()
    pass(10)
    await claims.claimLimited()
    expect(claims.dueAt(10_000, now()).othersAt).toBeGreaterThan(now() + 100)
  })
})

test('checks once a second whether an endpoint has limits', async () => {
  const [endpoint = ''] = await addEndpoints(1)
  const { claims, endpoints, pass } = createClaims()
  await claims.claimAll()
  await updateEndpoint(webhooks.deps, webhooks.accountId, endpoint, { maxPerSecond: 10 })
  await webhooks.emit(1)
  pass(999)
  await claims.claimAll()
  await claims.claimLimited()
  expect(endpoints()).toEqual([])
  pass(1)
  await claims.claimAll()
  await claims.claimLimited()
  expect(endpoints()).toEqual([endpoint])
})

test('reports that the database is unavailable', async () => {
  const away = openDatabase({ kind: 'postgres', url: 'postgres://127.0.0.1:9/away' }, pino({ level: 'silent' }))
  const lost = createClaims({ db: away })
  expect(await lost.claims.claimAll()).toEqual({ claimed: 0, isComplete: true })
  // Once for the query for endpoints with limits, and once for the claim.
  expect(lost.states).toEqual(['lost', 'lost'])
  expect(lost.claims.dueAt(10_000, 0).othersAt).toBe(Infinity)
  lost.claims.limitedSlotFreed()
  await lost.claims.claimLimited()
  expect(lost.states).toEqual(['lost', 'lost', 'lost'])
  await away.destroy()
})

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
