import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { longerThanLeaseSeconds } from './db/clock.ts'
import type { Notifications, Topic } from './db/notifications.ts'
import { isDatabaseUnavailable } from './db/errors.ts'
import type { Database } from './db/schema.ts'
import type { Logger } from './log.ts'

interface Outbox<Item> {
  /** Announced when items were added. */
  topic: Topic
  /** For the log, such as `outgoing emails`. */
  name: string
  /** Claims due items; an empty list means that none is due. */
  claim: () => Promise<Item[]>
  attempt: (item: Item) => Promise<void>
}

/** The loop also polls, because notifications can get lost. */
const defaultPollMilliseconds = 5_000
/** As long as the attempts of a webhook worker: a process that takes longer to stop is killed. */
const defaultGraceMilliseconds = 25_000
const retrySeconds = [10, 60, 300, 900, 1800]

/** Returns how long to wait after the given number of failed attempts. */
export function retryDelay(attempts: number): number {
  return retrySeconds[Math.min(attempts, retrySeconds.length) - 1] ?? 0
}

/**
 * Shifts due times back after the clock was set back, except leases that may have been granted since. Applies to all
 * accounts: they share a clock.
 */
export async function shiftOutboxes(db: Kysely<Database>, seconds: number): Promise<void> {
  for (const table of ['emails', 'chat_posts'] as const)
    await sql`
      update ${sql.table(table)} set due_at = due_at - make_interval(secs => ${seconds})
      where due_at > now() + make_interval(secs => ${sql.lit(longerThanLeaseSeconds)})`.execute(db)
}

/** Sends the items of an outbox table in the background. */
export class OutboxLoop<Item> {
  readonly #deps: { notifications: Notifications; log: Logger }
  readonly #outbox: Outbox<Item>
  readonly #pollMilliseconds: number
  #wake = new AbortController()
  #stopped = false
  #stopListening = () => {}
  #running: Promise<void> = Promise.resolve()
  /** Whether attempts were running when the grace of a stop ended. */
  #abandoned = false

  constructor(
    deps: { notifications: Notifications; log: Logger },
    outbox: Outbox<Item>,
    { pollMilliseconds = defaultPollMilliseconds }: { pollMilliseconds?: number } = {},
  ) {
    this.#deps = deps
    this.#outbox = outbox
    this.#pollMilliseconds = pollMilliseconds
  }

  start(): void {
    this.#stopListening = this.#deps.notifications.listen(this.#outbox.topic, () => this.#wake.abort())
    this.#running = this.#run()
  }

  /** Waits up to `graceMilliseconds` for attempts in progress. Items whose attempt has not ended become due again. */
  async stop({ graceMilliseconds = defaultGraceMilliseconds } = {}): Promise<void> {
    this.#stopped = true
    this.#stopListening()
    this.#wake.abort()
    const graceEnded = new AbortController()
    const grace = delay(graceMilliseconds, 'abandoned' as const, { signal: graceEnded.signal })
    this.#abandoned = (await Promise.race([this.#running, grace])) === 'abandoned'
    graceEnded.abort()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#wake = new AbortController()
      const { signal } = this.#wake
      await this.#sendDue()
      await delay(this.#pollMilliseconds, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async #sendDue(): Promise<void> {
    const { claim, attempt, name } = this.#outbox
    try {
      while (!this.#stopped) {
        const claimed = await claim()
        if (claimed.length === 0) return
        await Promise.all(claimed.map(attempt))
      }
    } catch (error) {
      // The database is closed before an abandoned attempt ends. That needs no action.
      const level = this.#abandoned || isDatabaseUnavailable(error) ? 'debug' : 'error'
      this.#deps.log[level]({ err: error }, `could not read or update the ${name}`)
    }
  }
}
