import { setTimeout as delay } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import type { WebhookConfig } from '../../platform/config.ts'
import { type AttemptDeps, Attempts, type WorkerObserver } from './attempts.ts'
import { Claims, nothingClaimed } from './claims.ts'
import { EndpointConcurrency } from './endpoint-concurrency.ts'
import { type DeliveryJournal, noDeliveryJournal } from './delivery-journal.ts'

export interface WorkerOptions {
  /** Duration of a claim. It must exceed the timeout of an attempt. */
  leaseSeconds?: number
  /** Polling interval while no notification arrives. */
  pollMilliseconds?: number
  /** Maximum number of claimed deliveries across all endpoints except slow ones. */
  maxHeld?: number
  /** Maximum number of claimed deliveries across all slow endpoints. */
  maxSlowHeld?: number
  random?: () => number
  /** The monotonic clock of this process, in milliseconds. */
  monotonic?: () => number
  observer?: WorkerObserver
  journal?: DeliveryJournal
}

export type WorkerDeps = AttemptDeps & Pick<Deps, 'notifications'>

/** Time for recording the result of an attempt that ended at its timeout. */
const leaseMarginSeconds = 10
/** After a smaller claim, the worker waits for more due deliveries, because one statement for each is too expensive. */
const smallClaim = 32
const smallClaimDelayMilliseconds = 5

/**
 * Claims due deliveries, attempts them and records the results. No transaction is open during an attempt. All times are
 * database times; this process only measures durations.
 */
export class Worker {
  readonly #deps: WorkerDeps
  readonly #timeoutSeconds: number
  readonly #pollMilliseconds: number
  readonly #monotonic: () => number
  readonly #concurrency: EndpointConcurrency
  readonly #claims: Claims
  readonly #attempts: Attempts
  #stopping = false
  #woken = false
  #wakeSleeper: (() => void) | undefined
  #stopListening: (() => void) | undefined
  #running: Promise<void> | undefined
  #isDatabaseLost = false

  constructor(deps: WorkerDeps, { timeoutSeconds, retrySeconds }: WebhookConfig, overrides: WorkerOptions = {}) {
    const options = {
      leaseSeconds: timeoutSeconds + leaseMarginSeconds,
      pollMilliseconds: 1_000,
      maxHeld: 1_024,
      maxSlowHeld: 1_024,
      random: Math.random,
      monotonic: () => performance.now(),
      observer: { attempted: () => {}, lost: () => {}, disabled: () => {} },
      journal: noDeliveryJournal,
      ...overrides,
    }
    this.#deps = deps
    this.#timeoutSeconds = timeoutSeconds
    this.#pollMilliseconds = options.pollMilliseconds
    this.#monotonic = options.monotonic
    this.#concurrency = new EndpointConcurrency(options)
    const database = {
      databaseLost: (error: unknown) => this.#reportDatabaseLost(error),
      databaseBack: () => this.#reportDatabaseBack(),
    }
    this.#attempts = new Attempts(deps, { ...options, timeoutSeconds, retrySeconds }, this.#concurrency, {
      ...database,
      slotFreed: () => this.wake(),
      // It may sleep until its poll, because the endpoint had no free slot.
      slowSlotFreed: () => this.#wakeSleeper?.(),
      released: () => {
        if (this.#claims.isFull) this.wake()
      },
      limitedRecorded: () => {
        this.#claims.limitedSlotFreed()
        this.#wakeSleeper?.()
      },
    })
    this.#claims = new Claims(deps.db, options, this.#concurrency, {
      ...database,
      claimed: (delivery, terms) => this.#attempts.begin(delivery, terms),
    })
  }

  /** Number of deliveries that this process has claimed. */
  get held(): number {
    return this.#attempts.held
  }

  start(): void {
    if (this.#running) return
    this.#stopListening = this.#deps.notifications.listen('deliveries', () => this.wake())
    this.#running = this.#run()
  }

  /** Checks for due deliveries now. */
  wake(): void {
    this.#woken = true
    this.#wakeSleeper?.()
  }

  /** Stops claiming, waits up to `graceMilliseconds` for running attempts and releases the remaining claims. */
  async stop({ graceMilliseconds = graceSecondsOf(this.#timeoutSeconds) * 1000 } = {}): Promise<void> {
    this.#stopping = true
    this.#attempts.startNoMore()
    this.#stopListening?.()
    this.wake()
    await this.#running
    await this.#attempts.stop(graceMilliseconds)
  }

  async #run(): Promise<void> {
    let claimsAll = true
    while (!this.#stopping) {
      await this.#claims.claimSlow()
      await this.#claims.claimLimited()
      const { claimed, isComplete } = claimsAll ? await this.#claimAll() : nothingClaimed
      claimsAll = true
      if (claimed >= smallClaim || (claimed === 0 && !isComplete)) continue
      if (claimed > 0) await delay(smallClaimDelayMilliseconds)
      else claimsAll = await this.#sleep()
    }
  }

  #claimAll(): ReturnType<Claims['claimAll']> {
    this.#woken = false
    return this.#claims.claimAll()
  }

  /**
   * Sleeps until there may be something to claim. Returns false if only slow endpoints or endpoints with limits need to
   * be checked.
   */
  async #sleep(): Promise<boolean> {
    if (this.#woken || this.#stopping) return true
    const now = this.#monotonic()
    const { allAt, othersAt } = this.#claims.dueAt(this.#pollMilliseconds, now)
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, Math.max(0, Math.min(allAt, othersAt) - now))
    this.#wakeSleeper = resolve
    await promise
    this.#wakeSleeper = undefined
    clearTimeout(timer)
    return this.#woken || this.#monotonic() >= allAt
  }

  #reportDatabaseLost(error: unknown): void {
    if (this.#isDatabaseLost) return
    this.#isDatabaseLost = true
    this.#deps.log.warn({ err: error }, 'could not read deliveries from the database; trying again')
  }

  #reportDatabaseBack(): void {
    if (!this.#isDatabaseLost) return
    this.#isDatabaseLost = false
    this.#deps.log.info('the database is available again')
  }
}

/** A process that takes longer to stop is killed, whatever the timeout of its attempts. */
const maxGraceSeconds = 25

/** Returns how long a stopping worker waits for its attempts. */
export function graceSecondsOf(timeoutSeconds: number): number {
  return Math.min(timeoutSeconds, maxGraceSeconds)
}
