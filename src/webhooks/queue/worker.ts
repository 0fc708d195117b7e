import { setTimeout as delay } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { createBatcher } from '../../platform/batch.ts'
import type { WebhookConfig } from '../../platform/config.ts'
import { isDatabaseUnavailable } from '../../platform/db/unavailable.ts'
import type { SecretBox } from '../../platform/secrets.ts'
import type { AttemptResult } from '../delivery/webhook-sender.ts'
import { type OpenedEndpoint, openEndpoint } from '../endpoints/secrets.ts'
import { EndpointConcurrency, type ClaimPass, windowsOf } from './endpoint-concurrency.ts'
import { nextWaitSeconds } from './retry-schedule.ts'
import {
  claimDueDeliveries,
  type ClaimedDelivery,
  type DisabledEndpoint,
  type EndedAttempt,
  recordAttempts,
  releaseClaims,
} from './store.ts'

export interface WorkerOptions {
  /** From a claim until others may take it over; must exceed the deadline of an attempt. */
  leaseSeconds?: number
  /** How often to look for what is due when nobody announces anything. */
  pollMilliseconds?: number
  /** Deliveries held at once, over all endpoints. */
  maxHeld?: number
  random?: () => number
  observer?: WorkerObserver
}

/** Hears what a worker does: metrics. */
export interface WorkerObserver {
  attempted(result: AttemptResult): void
  /** The lease had run out before the attempt could be recorded: it will be made again. */
  lost(): void
  disabled(endpoint: DisabledEndpoint): void
}

export type WorkerDeps = Pick<Deps, 'db' | 'webhooks' | 'announcements' | 'secrets' | 'log'>

/** Beyond the deadline, for writing down what came of an attempt. */
const leaseMarginSeconds = 10
const maxClaimed = 256
const maxRecorded = 256
const recordingsAtOnce = 1
/** After a claim that brought few, others gather: a statement for each would cost more than it helps. */
const fewClaimed = 32
const gatherMilliseconds = 5
/** What is held for longer, from its claim to its answer, is too much at once. */
const slowMilliseconds = 2_000
const databaseRetryMilliseconds = 500

interface Held {
  delivery: ClaimedDelivery
  /** By this process' own steady clock, like all of these. */
  claimedAt: number
  /** Until when the lease lasts at least. */
  leaseEndsAt: number
  /** What to add to the steady clock to get the database's. */
  databaseOffset: number
}

/**
 * Claims what is due, attempts it, and records what came of it. No transaction is open during an
 * attempt. All times are the database's: this process only measures how much of one has passed.
 */
export class Worker {
  readonly #deps: WorkerDeps
  readonly #config: WebhookConfig
  readonly #options: Required<WorkerOptions>
  readonly #lanes = new EndpointConcurrency()
  readonly #held = new Map<string, Held>()
  readonly #record: (ended: EndedAttempt) => Promise<'recorded' | 'lost'>
  readonly #secrets: SecretBox
  /** Where the last claim of each kind stopped. */
  readonly #afterEndpointIds = new Map<ClaimPass['of'], string>()
  /** Whether there was no room for another delivery. */
  #isFull = false
  #stopping = false
  #woken = false
  #wakeSleeper: (() => void) | undefined
  #allEnded: (() => void) | undefined
  #stopListening: (() => void) | undefined
  #running: Promise<void> | undefined
  #databaseIsAway = false

  constructor(deps: WorkerDeps, config: WebhookConfig, options: WorkerOptions = {}) {
    this.#deps = deps
    this.#config = config
    this.#options = {
      leaseSeconds: config.timeoutSeconds + leaseMarginSeconds,
      pollMilliseconds: 1_000,
      maxHeld: 1_024,
      random: Math.random,
      observer: { attempted: () => {}, lost: () => {}, disabled: () => {} },
      ...options,
    }
    if (this.#options.leaseSeconds <= config.timeoutSeconds)
      throw new Error('The lease of a delivery must be longer than the deadline of an attempt.')
    this.#secrets = deps.secrets
    this.#record = createBatcher({
      run: (ended) => this.#recordAll(ended),
      maxItems: maxRecorded,
      maxInFlight: recordingsAtOnce,
      isItemError: (error) => !isDatabaseUnavailable(error),
    })
  }

  /** Deliveries that this process holds. */
  get held(): number {
    return this.#held.size
  }

  start(): void {
    if (this.#running) return
    this.#stopListening = this.#deps.announcements.listen('deliveries', () => this.wake())
    this.#running = this.#run()
  }

  /** Look now. */
  wake(): void {
    this.#woken = true
    this.#wakeSleeper?.()
  }

  /** Claims no more, finishes what is under way within `graceMilliseconds`, and gives back the rest. */
  async stop({ graceMilliseconds = this.#config.timeoutSeconds * 1000 } = {}): Promise<void> {
    this.#stopping = true
    this.#stopListening?.()
    this.wake()
    await this.#running
    if (this.#held.size > 0) {
      const allEnded = new Promise<void>((resolve) => (this.#allEnded = resolve))
      const graceEnded = new AbortController()
      await Promise.race([allEnded, delay(graceMilliseconds, undefined, { signal: graceEnded.signal })])
      graceEnded.abort()
    }
    const rest = [...this.#held.values()].map(({ delivery }) => delivery)
    // From here on, what their attempts bring is not recorded.
    this.#held.clear()
    if (rest.length === 0) return
    await releaseClaims(this.#deps.db, rest).catch((error: unknown) =>
      this.#deps.log.warn({ err: error, deliveries: rest.length }, 'deliveries could not be given back'),
    )
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const { claimed, isWhole } = await this.#claim()
      if (claimed >= fewClaimed || (claimed === 0 && !isWhole)) continue
      if (claimed > 0) await delay(gatherMilliseconds)
      else await this.#sleep(this.#options.pollMilliseconds)
    }
  }

  /** Returns how many deliveries were taken, and whether that is all there was to take. */
  async #claim(): Promise<{ claimed: number; isWhole: boolean }> {
    this.#woken = false
    this.#isFull = this.#held.size >= this.#options.maxHeld
    let claimed = 0
    let isWhole = true
    if (this.#isFull) return { claimed, isWhole }
    try {
      for (const turn of this.#lanes.plan(this.#options.maxHeld, maxClaimed, performance.now())) {
        const wasPartial = this.#after(turn) !== ''
        const taken = await this.#claimTurn(turn)
        claimed += taken
        if (taken === 0 && wasPartial) isWhole = false
      }
      this.#reportDatabaseBack()
    } catch (error) {
      this.#reportDatabaseLost(error)
      this.#afterEndpointIds.clear()
    }
    this.#isFull = this.#held.size >= this.#options.maxHeld
    return { claimed, isWhole: isWhole || this.#isFull }
  }

  #after({ of }: ClaimPass): string {
    return this.#afterEndpointIds.get(of) ?? ''
  }

  async #claimTurn(turn: ClaimPass): Promise<number> {
    const limit = Math.min(turn.limit, this.#options.maxHeld - this.#held.size)
    const sentAt = performance.now()
    const rooms = this.#lanes.rooms(turn, sentAt)
    const windows = windowsOf(turn)
    if (limit <= 0 || (turn.of === 'proven' && rooms.every((room) => room.deliveries === 0))) {
      this.#afterEndpointIds.delete(turn.of)
      return 0
    }
    const afterEndpointId = this.#after(turn)
    const { leaseSeconds } = this.#options
    const claim = { leaseSeconds, limit, afterEndpointId, rooms, ...windows }
    const deliveries = await claimDueDeliveries(this.#deps.db, claim)
    for (const delivery of deliveries) {
      const fails = delivery.endpoint_fails
      this.#begin(delivery, { fails, window: fails ? windows.whileFailing : windows.otherwise }, sentAt)
    }
    const sawAllEndpoints = afterEndpointId === '' && deliveries.length < limit
    if (sawAllEndpoints) this.#lanes.noteClaimed(rooms, deliveries)
    // A full claim stopped at some endpoint: the next one goes on behind it, so that each has its turn.
    const stoppedAt = deliveries.length < limit ? undefined : deliveries.at(-1)?.endpoint_id
    this.#afterEndpointIds.set(turn.of, stoppedAt ?? '')
    return deliveries.length
  }

  #begin(delivery: ClaimedDelivery, start: { fails: boolean; window: number }, sentAt: number): void {
    const now = performance.now()
    const held = {
      delivery,
      claimedAt: now,
      leaseEndsAt: sentAt + this.#options.leaseSeconds * 1000,
      databaseOffset: delivery.claimed_at - now,
    }
    this.#held.set(delivery.id, held)
    this.#lanes.begin(delivery.endpoint_id, start, now, () => {
      this.#deliver(held)
        .catch((error: unknown) =>
          this.#deps.log.error({ err: error, deliveryId: delivery.id }, 'an attempt could not be recorded'),
        )
        .finally(() => this.#release(held))
    })
  }

  async #deliver(held: Held): Promise<void> {
    const { delivery } = held
    const now = performance.now()
    // It waited here too long, or this process stood still: others can take it over before an attempt would end.
    const isLate = now + this.#config.timeoutSeconds * 1000 > held.leaseEndsAt
    if (isLate || this.#held.get(delivery.id) !== held) return this.#leave(held, 'failed')
    const startedAt = new Date(now + held.databaseOffset)
    const result = await this.#attempt(delivery, startedAt)
    this.#leave(held, result.outcome === 'delivered' ? 'quick' : 'failed')
    this.#options.observer.attempted(result)
    const waitSeconds = this.#waitAfter(delivery, result)
    await this.#recordWhileHeld(held, { delivery, result, startedAt, waitSeconds })
  }

  /** The endpoint is done with a delivery; another can have its place. */
  #leave({ delivery, claimedAt }: Held, outcome: 'quick' | 'failed'): void {
    const now = performance.now()
    const pace = outcome === 'quick' && now - claimedAt > slowMilliseconds ? 'slow' : outcome
    if (this.#lanes.end(delivery.endpoint_id, pace, now)) this.wake()
  }

  async #attempt(delivery: ClaimedDelivery, timestamp: Date): Promise<AttemptResult> {
    const opened = this.#open(delivery, timestamp)
    // Like any failed attempt it is made again: until then, an operator can bring back the key.
    if (!opened)
      return { outcome: 'failed', error: 'the secret of the endpoint cannot be read', durationMilliseconds: 0 }
    const { url, event_id: eventId, payload } = delivery
    return this.#deps.webhooks.attempt({ url, eventId, payload, timestamp, ...opened })
  }

  #open(delivery: ClaimedDelivery, now: Date): OpenedEndpoint | undefined {
    try {
      return openEndpoint(this.#secrets, { ...delivery, id: delivery.endpoint_id }, now)
    } catch (error) {
      const { endpoint_id: endpointId, endpoint_fails: isKnown } = delivery
      if (!isKnown) this.#deps.log.error({ err: error, endpointId }, 'the secret of an endpoint cannot be read')
      return undefined
    }
  }

  #waitAfter({ attempts }: ClaimedDelivery, result: AttemptResult): number | undefined {
    if (result.outcome === 'delivered') return undefined
    return nextWaitSeconds(
      this.#config.retrySeconds,
      { attempts: attempts + 1, retryAfterSeconds: result.retryAfterSeconds },
      this.#options.random,
    )
  }

  /** While the database is away, for as long as the lease lasts; then the attempt is made again, by whoever. */
  async #recordWhileHeld(held: Held, ended: EndedAttempt): Promise<void> {
    while (this.#held.get(held.delivery.id) === held) {
      try {
        if ((await this.#record(ended)) === 'lost') this.#options.observer.lost()
        return
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error
        this.#reportDatabaseLost(error)
        if (performance.now() > held.leaseEndsAt) return this.#options.observer.lost()
        await delay(databaseRetryMilliseconds)
      }
    }
    // This worker has claimed it anew, or has given it back.
    if (!this.#stopping) this.#options.observer.lost()
  }

  async #recordAll(ended: readonly EndedAttempt[]): Promise<('recorded' | 'lost')[]> {
    const { lost, disabled } = await recordAttempts(this.#deps.db, ended)
    for (const endpoint of disabled) {
      this.#deps.log.warn({ ...endpoint }, 'a webhook endpoint was switched off')
      this.#options.observer.disabled(endpoint)
    }
    return ended.map(({ delivery }) => (lost.has(delivery.id) ? 'lost' : 'recorded'))
  }

  #release(held: Held): void {
    if (this.#held.get(held.delivery.id) === held) this.#held.delete(held.delivery.id)
    if (this.#held.size === 0) this.#allEnded?.()
    if (this.#isFull) this.wake()
  }

  async #sleep(milliseconds: number): Promise<void> {
    this.#lanes.forgetIdle(performance.now())
    if (this.#woken || this.#stopping) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, milliseconds)
    this.#wakeSleeper = resolve
    await promise
    this.#wakeSleeper = undefined
    clearTimeout(timer)
  }

  #reportDatabaseLost(error: unknown): void {
    if (this.#databaseIsAway) return
    this.#databaseIsAway = true
    this.#deps.log.warn({ err: error }, 'the database cannot be asked for deliveries: trying again')
  }

  #reportDatabaseBack(): void {
    if (!this.#databaseIsAway) return
    this.#databaseIsAway = false
    this.#deps.log.info('the database answers again')
  }
}
