import type { Kysely } from 'kysely'
import type { Notifications } from '../db/notifications.ts'
import type { Database } from '../db/schema.ts'
import type { Logger } from '../log.ts'
import { OutboxLoop, retryDelay } from '../outbox-loop.ts'
import type { SecretBox } from '../secrets.ts'
import { type ClaimedEmail, claimEmails, deleteEmail, openEmail, postponeEmail } from './outbox.ts'
import { type Email, MailError, type MailTransport } from './transport.ts'

interface MailerDeps {
  db: Kysely<Database>
  secrets: SecretBox
  notifications: Notifications
  log: Logger
}

/**
 * `rejected`: permanently, by the SMTP server. `expired`: it was not sent in time. `unreadable`: it could not be
 * decrypted. `failed`: it will be retried.
 */
export type EmailOutcome = 'sent' | 'failed' | 'rejected' | 'expired' | 'unreadable'

/** Maximum number of concurrent connections to the SMTP server. */
const concurrency = 4
/** Longer than the longest attempt. */
const leaseSeconds = 120

/** Sends the enqueued emails of all accounts in the background. */
export class Mailer {
  readonly #deps: MailerDeps
  readonly #transport: MailTransport
  readonly #onOutcome: (outcome: EmailOutcome) => void
  readonly #loop: OutboxLoop<ClaimedEmail>
  /** Whether the server failed at the last attempt, so that only changes are logged. */
  #failing = false

  constructor(deps: MailerDeps, transport: MailTransport, onOutcome: (outcome: EmailOutcome) => void = () => {}) {
    this.#deps = deps
    this.#transport = transport
    this.#onOutcome = onOutcome
    this.#loop = new OutboxLoop(deps, {
      topic: 'emails',
      name: 'outgoing emails',
      claim: () => claimEmails(deps.db, { limit: concurrency, leaseSeconds }),
      attempt: (email) => this.#attempt(email),
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Waits for attempts in progress, but not longer than a process may take to stop. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Logs neither the address nor the content, which can contain links that sign in. */
  async #attempt(claimed: ClaimedEmail): Promise<void> {
    const { db, log } = this.#deps
    const { id, kind, attempts, expired } = claimed
    if (expired) {
      log.warn({ id, kind, attempts }, 'an email was not sent in time and was dropped')
      await deleteEmail(db, id)
      this.#onOutcome('expired')
      return
    }
    const email = this.#open(claimed)
    if (!email) {
      await deleteEmail(db, id)
      this.#onOutcome('unreadable')
      return
    }
    const failure = await this.#send(email)
    if (failure?.permanent === true) {
      const { code, replyCode } = failure
      log.warn({ id, kind, code, replyCode }, 'the SMTP server permanently rejected an email; it was dropped')
      await deleteEmail(db, id)
      this.#onOutcome('rejected')
    } else if (failure) {
      if (!failure.isRefusal) this.#reportFailing(failure)
      await postponeEmail(db, id, retryDelay(attempts))
      this.#onOutcome('failed')
    } else {
      if (this.#failing) log.info('the SMTP server accepts email again')
      this.#failing = false
      await deleteEmail(db, id)
      this.#onOutcome('sent')
    }
  }

  #open(claimed: ClaimedEmail): Email | undefined {
    try {
      return openEmail(this.#deps.secrets, claimed)
    } catch (error) {
      const { id, kind } = claimed
      this.#deps.log.error({ err: error, id, kind }, 'could not decrypt an email; it was dropped')
      return undefined
    }
  }

  async #send(email: Email): Promise<MailError | undefined> {
    try {
      await this.#transport.send(email)
      return undefined
    } catch (error) {
      if (error instanceof MailError) return error
      throw error
    }
  }

  #reportFailing({ code, replyCode }: MailError): void {
    if (!this.#failing)
      this.#deps.log.error(
        { code, replyCode },
        'the SMTP server is not accepting email; retrying. Run waybill doctor for the cause',
      )
    this.#failing = true
  }
}
