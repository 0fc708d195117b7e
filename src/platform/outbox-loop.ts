import { setTimeout as delay } from 'node:timers/promises'
import type { Notifications, Topic } from './db/notifications.ts'
import { isDatabaseUnavailable } from './db/errors.ts'
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
const retrySeconds = [10, 60, 300, 900, 1800]

/** Returns how long to wait after the given number of failed attempts. */
export function retryDelay(attempts: number): number {
  return retrySeconds[Math.min(attempts, retrySeconds.length) - 1] ?? 0
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

  /** Waits for attempts in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopListening()
    this.#wake.abort()
    await this.#running
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
      const level = isDatabaseUnavailable(error) ? 'debug' : 'error'
      this.#deps.log[level]({ err: error }, `could not read or update the ${name}`)
    }
  }
}
