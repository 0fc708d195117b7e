import { setTimeout as delay } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { createBatcher } from '../../platform/batch.ts'
import { isDatabaseUnavailable, isTransient } from '../../platform/db/errors.ts'
import type { AttemptResult } from '../sender/webhook-sender.ts'
import { decryptEndpoint } from '../endpoints/secrets.ts'
import type { EndpointConcurrency, StartWindows } from './endpoint-concurrency.ts'
import type { DeliveryJournal } from './delivery-journal.ts'
import { nextWaitSeconds } from './retry-schedule.ts'
import {
  type ClaimedDelivery,
  type DisabledEndpoint,
  type EndedAttempt,
  recordAttempts,
  releaseClaims,
} from './store.ts'

export type AttemptDeps = Pick<Deps, 'db' | 'webhooks' | 'secrets' | 'log'>

export interface AttemptOptions {
  /** Timeout of an attempt. */
  timeoutSeconds: number
  /** Duration of a claim. It must exceed the timeout of an attempt. */
  leaseSeconds: number
  /** Delays between the attempts of a delivery. */
  retrySeconds: readonly number[]
  random: () => number
  /** The monotonic clock of this process, in milliseconds. */
  monotonic: () => number
  observer: WorkerObserver
  journal: DeliveryJournal
}

/** Receives the worker's events, for metrics. */
export interface WorkerObserver {
  attempted(result: AttemptResult): void
  /** The lease expired before the attempt could be recorded, so the attempt will be repeated. */
  lost(): void
  disabled(endpoint: DisabledEndpoint): void
}

/** Tells the worker when to claim again. */
export interface AttemptEvents {
  /** An endpoint without limits can take more due deliveries. */
  slotFreed(): void
  /** A slow or failing endpoint can take more due deliveries, at its next interval. */
  slowSlotFreed(): void
  /** A delivery is finished or its claim has ended. */
  released(): void
  /** An attempt at an endpoint with limits was recorded. */
  limitedRecorded(): void
  databaseLost(error: unknown): void
}

const maxRecorded = 256
const maxConcurrentRecordings = 1
/**
 * No attempt starts while this many quick responses are unrecorded, because they are delivered again if the process is
 * killed. Lower limits make a worker slower.
 */
const maxUnrecorded = 1_024
/** Only quick responses can arrive in such numbers. A few hundred attempts at slow endpoints must not delay the others. */
const quickMilliseconds = 500
const databaseRetryMilliseconds = 500

/** How a delivery was claimed. */
export interface ClaimTerms {
  windows: StartWindows
  /** Whether the endpoint has configured limits. */
  isLimited: boolean
  /** When the claim was sent, by the monotonic clock of this process. */
  sentAt: number
}

interface HeldDelivery {
  delivery: ClaimedDelivery
  /** Whether the endpoint has configured limits. */
  isLimited: boolean
  /** Earliest possible end of the lease, by the monotonic clock of this process. */
  leaseEndsAt: number
  /** Offset from the monotonic clock to the database clock. */
  databaseOffset: number
  isStarted: boolean
  /** Ends when the result of the attempt is recorded or could not be recorded. */
  recording: Promise<unknown> | undefined
}

/**
 * Attempts claimed deliveries as soon as their endpoints have a free slot, and records the results within the lease.
 */
export class Attempts {
  readonly #deps: AttemptDeps
  readonly #options: AttemptOptions
  readonly #concurrency: EndpointConcurrency
  readonly #events: AttemptEvents
  readonly #held = new Map<string, HeldDelivery>()
  readonly #record: (ended: EndedAttempt) => Promise<'recorded' | 'lost'>
  /** Number of quick responses that are not recorded yet. */
  #unrecorded = 0
  #stopping = false
  #allEnded: (() => void) | undefined

  constructor(deps: AttemptDeps, options: AttemptOptions, concurrency: EndpointConcurrency, events: AttemptEvents) {
    if (options.leaseSeconds <= options.timeoutSeconds)
      throw new Error('The lease of a delivery must be longer than the timeout of an attempt.')
    this.#deps = deps
    this.#options = options
    this.#concurrency = concurrency
    this.#events = events
    this.#record = createBatcher({
      run: (ended) => this.#recordAll(ended),
      maxItems: maxRecorded,
      maxInFlight: maxConcurrentRecordings,
      isItemError: (error) => !isDatabaseUnavailable(error),
    })
  }

  /** Number of deliveries that are claimed and not finished. */
  get held(): number {
    return this.#held.size
  }

  /** What is claimed from now on waits for `stop`, which releases it. */
  startNoMore(): void {
    this.#stopping = true
  }

  /**
   * Starts no more attempts and releases their claims. Waits up to `graceMilliseconds` for running attempts, then for the
   * results that are being recorded, and releases the remaining claims.
   */
  async stop(graceMilliseconds: number): Promise<void> {
    this.startNoMore()
    const waiting = [...this.#held.values()].filter(({ isStarted }) => !isStarted)
    // A delivery that is no longer held is not attempted.
    for (const { delivery } of waiting) this.#held.delete(delivery.id)
    await Promise.all([this.#release(waiting), this.#finish(graceMilliseconds)])
  }

  async #finish(graceMilliseconds: number): Promise<void> {
    if (this.#held.size > 0) {
      const allEnded = new Promise<void>((resolve) => (this.#allEnded = resolve))
      const graceEnded = new AbortController()
      await Promise.race([allEnded, delay(graceMilliseconds, undefined, { signal: graceEnded.signal })])
      graceEnded.abort()
    }
    const held = [...this.#held.values()]
    // From now on, results of running attempts are not recorded.
    this.#held.clear()
    // Released while it is being recorded, a delivery could be sent again, and both statements could deadlock.
    await Promise.allSettled(held.flatMap(({ recording }) => recording ?? []))
    await this.#release(held.filter(({ recording }) => !recording))
  }

  async #release(held: readonly HeldDelivery[]): Promise<void> {
    if (held.length === 0) return
    const deliveries = held.map(({ delivery }) => delivery)
    await releaseClaims(this.#deps.db, deliveries).catch((error: unknown) =>
      this.#deps.log.warn(
        { err: error, deliveries: deliveries.length },
        'could not release claimed deliveries; they become due when their lease ends',
      ),
    )
  }

  /** Attempts a delivery as soon as its endpoint has a free slot. */
  begin(delivery: ClaimedDelivery, { windows, isLimited, sentAt }: ClaimTerms): void {
    const now = this.#options.monotonic()
    const isFailing = delivery.endpointFailing
    const initial = { isFailing, isLimited, window: isFailing ? windows.failingWindow : windows.defaultWindow }
    const held: HeldDelivery = {
      delivery,
      isLimited,
      leaseEndsAt: sentAt + this.#options.leaseSeconds * 1000,
      databaseOffset: delivery.claimedAt - now,
      isStarted: false,
      recording: undefined,
    }
    this.#held.set(delivery.id, held)
    this.#concurrency.begin(delivery.endpointId, initial, now, () => {
      if (this.#stopping) return
      void this.#deliver(held).then(
        () => this.#remove(held),
        (error: unknown) => {
          this.#deps.log.error({ err: error, deliveryId: delivery.id }, 'could not record an attempt')
          this.#remove(held)
        },
      )
    })
  }

  async #deliver(held: HeldDelivery): Promise<void> {
    const { delivery } = held
    const now = this.#options.monotonic()
    // True if the delivery waited too long, or if this process was suspended. Another worker could then claim it before
    // the attempt ends.
    const isLate = now + this.#options.timeoutSeconds * 1000 > held.leaseEndsAt
    if (isLate || this.#held.get(delivery.id) !== held) return this.#freeSlot(held, { outcome: 'failed' })
    held.isStarted = true
    const startedAt = new Date(now + held.databaseOffset)
    const result = await this.#attempt(delivery, startedAt)
    const waitSeconds = this.#waitAfter(delivery, result)
    const ended = { delivery, result, startedAt, waitSeconds }
    if (result.outcome === 'delivered') this.#options.journal.acknowledged(ended)
    const isQuick = result.outcome === 'delivered' && result.durationMilliseconds < quickMilliseconds
    if (isQuick && ++this.#unrecorded >= maxUnrecorded) this.#concurrency.pause()
    const { outcome, durationMilliseconds: milliseconds } = result
    this.#freeSlot(held, outcome === 'delivered' ? { outcome, milliseconds } : { outcome: 'failed' })
    this.#options.observer.attempted(result)
    try {
      await this.#recordWhileHeld(held, ended)
    } finally {
      this.#options.journal.recorded(delivery.id)
      if (isQuick) this.#resumeAfterRecord()
    }
  }

  #resumeAfterRecord(): void {
    this.#unrecorded -= 1
    if (this.#unrecorded <= maxUnrecorded / 2) this.#concurrency.resume(maxUnrecorded)
  }

  /** Frees the delivery's slot at its endpoint, so that another attempt can start. */
  #freeSlot(
    { delivery, isLimited }: HeldDelivery,
    ended: { outcome: 'failed' } | { outcome: 'delivered'; milliseconds: number },
  ): void {
    const next = this.#concurrency.end(delivery.endpointId, ended, this.#options.monotonic())
    if (isLimited || next === undefined) return
    if (next === 'now') this.#events.slotFreed()
    else this.#events.slowSlotFreed()
  }

  #attempt(delivery: ClaimedDelivery, timestamp: Date): Promise<AttemptResult> | AttemptResult {
    const { url, eventId, payload, endpointId, endpointFailing: isFailing } = delivery
    const { secrets, log, webhooks } = this.#deps
    const decrypted = decryptEndpoint(secrets, endpointId, delivery, timestamp)
    if (!('unreadable' in decrypted))
      return webhooks.attempt({ url, eventId, payload, timestamp, delivery, ...decrypted })
    // Logged once, not for each retry.
    if (!isFailing) log.error({ endpointId }, 'could not decrypt the signing secret or the headers of an endpoint')
    // Retried like any failed attempt, so that an operator has time to restore the encryption key.
    return decrypted.unreadable
  }

  #waitAfter({ attempts }: ClaimedDelivery, { outcome, retryAfterSeconds }: AttemptResult): number | undefined {
    if (outcome === 'delivered') return undefined
    const { retrySeconds, random } = this.#options
    const waitSeconds = nextWaitSeconds(retrySeconds, { attempts: attempts + 1, retryAfterSeconds }, random)
    // A 410 disables the endpoint, whose deliveries wait until a user enables it, even after their last attempt.
    return outcome === 'gone' ? (waitSeconds ?? 0) : waitSeconds
  }

  /**
   * Retries until the lease ends if the database is unavailable, or after a deadlock. After that, any worker can repeat
   * the attempt.
   */
  async #recordWhileHeld(held: HeldDelivery, ended: EndedAttempt): Promise<void> {
    while (this.#held.get(held.delivery.id) === held) {
      try {
        const recording = this.#record(ended)
        held.recording = recording
        if ((await recording) === 'lost') this.#options.observer.lost()
        else if (held.isLimited) this.#events.limitedRecorded()
        return
      } catch (error) {
        held.recording = undefined
        if (!isTransient(error)) throw error
        if (isDatabaseUnavailable(error)) this.#events.databaseLost(error)
        if (this.#options.monotonic() > held.leaseEndsAt) return this.#options.observer.lost()
        await delay(databaseRetryMilliseconds)
      }
    }
    // This worker has claimed the delivery again or released its claim.
    if (!this.#stopping) this.#options.observer.lost()
  }

  async #recordAll(ended: readonly EndedAttempt[]): Promise<('recorded' | 'lost')[]> {
    const { lost, disabled } = await recordAttempts(this.#deps.db, ended)
    for (const endpoint of disabled) {
      this.#deps.log.warn({ ...endpoint }, 'disabled a webhook endpoint')
      this.#options.observer.disabled(endpoint)
    }
    return ended.map(({ delivery }) => (lost.has(delivery.id) ? 'lost' : 'recorded'))
  }

  #remove(held: HeldDelivery): void {
    if (this.#held.get(held.delivery.id) === held) this.#held.delete(held.delivery.id)
    if (this.#held.size === 0) this.#allEnded?.()
    this.#events.released()
  }
}
