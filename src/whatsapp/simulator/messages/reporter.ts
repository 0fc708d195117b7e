import { type CallbackItem, digitsOf, type PlannedAnswer, writeAnswer } from './answers.ts'
import { failures } from '../errors.ts'
import { type CallbackEndpoint, postCallback } from '../post-callback.ts'
import type { AcceptedMessage, SimulatedNumber } from '../state.ts'

/** A status that follows this many milliseconds after a message was accepted. */
interface PlannedStatus {
  status: 'sent' | 'delivered' | 'read' | 'failed'
  afterMs: number
  /** Meta's error code of a failure. */
  code?: keyof typeof failures
  /** In place of the usual details of the code. */
  details?: string
}

const sent: PlannedStatus = { status: 'sent', afterMs: 150 }
const delivered: PlannedStatus = { status: 'delivered', afterMs: 600 }
const read: PlannedStatus = { status: 'read', afterMs: 1_500 }

/** A file cannot be used: WhatsApp has answered 200 and reports it later (reference 2, section 1.1). */
function mediaFailure(details: string): [PlannedStatus, PlannedStatus] {
  return [sent, { status: 'failed', afterMs: 600, code: 131053, details }]
}

/** The statuses that follow an accepted message, by behaviour of the recipient. */
const plans = {
  usual: [sent, delivered, read],
  neverRead: [sent, delivered],
  /** No `delivered` status is sent if a message is read immediately (reference, section 4.3). */
  readAtOnce: [sent, { ...read, afterMs: 400 }],
  undeliverable: [sent, { status: 'failed', afterMs: 600, code: 131026 }],
  withheld: [{ status: 'failed', afterMs: 600, code: 131049 }],
  droppedAfterHold: [{ status: 'failed', afterMs: 1_500, code: 132015 }],
  backwards: [
    { ...read, afterMs: 150 },
    { ...delivered, afterMs: 600 },
    { ...sent, afterMs: 1_000 },
  ],
  repeated: [sent, sent, sent, delivered, delivered, delivered, read, read, read],
  /** With several devices, a message can fail on one and be delivered to another. */
  failedThenDelivered: [sent, { status: 'failed', afterMs: 400, code: 131026 }, { ...delivered, afterMs: 900 }],
  silent: [],
  mediaForbidden: mediaFailure('Downloading media from weblink failed with http code 403, status message Forbidden'),
  mediaMissing: mediaFailure('Downloading media from weblink failed with http code 404, status message Not Found'),
  mediaWrongType: mediaFailure(
    'Image file uploaded with mimetype as image/jpeg, however on processing it is of type text/html. Please choose a different file.',
  ),
} as const satisfies Record<string, readonly PlannedStatus[]>

export type Plan = keyof typeof plans

/** The URL that receives statuses and answers, and the app secret that signs them. */
export interface CallbackTarget extends CallbackEndpoint {
  /** Called for each status of a callback that was accepted. */
  onCallbackAccepted?: (report: { status: PlannedStatus['status']; message: AcceptedMessage }) => void
}

type TargetOf = (number: SimulatedNumber, field: CallbackItem['field']) => CallbackTarget | undefined

interface Due {
  message: AcceptedMessage
  item: CallbackItem
  /** The status of the message that it reports, if it is one. */
  status?: PlannedStatus['status']
}

/** Items of one number that are due within this time share a callback, at most a thousand (reference, section 4.2). */
const batchMs = 50
const maxBatch = 1000
/** Delays between retries. Meta retries for days; a sandbox does not need to. */
const retryMs = [250, 1_000, 4_000, 16_000]

/** Posts statuses and answers like Meta: signed, batched, and retried until they are accepted. */
export class StatusReporter {
  #due: Due[] = []
  #isStopped = false
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #targetOf: TargetOf
  readonly #randomBytes: (size: number) => Uint8Array

  /** `targetOf` is asked at each callback, because subscriptions change. */
  constructor(targetOf: TargetOf, randomBytes: (size: number) => Uint8Array) {
    this.#targetOf = targetOf
    this.#randomBytes = randomBytes
  }

  /** Without a target, nothing is sent. */
  follow(message: AcceptedMessage, plan: Plan): void {
    if (!this.#targetOf(message.from, 'messages')) return
    for (const report of plans[plan])
      this.#after(report.afterMs, () =>
        this.#enqueue({ message, item: toStatus(message, report), status: report.status }),
      )
    for (const answer of message.answers) this.#after(answer.afterMs, () => this.#answer(message, answer))
  }

  #answer(message: AcceptedMessage, answer: PlannedAnswer): void {
    const item = writeAnswer(message, answer, this.#randomBytes)
    if (item) for (let time = 0; time < (answer.times ?? 1); time++) this.#enqueue({ message, item })
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#isStopped = true
    this.#due = []
  }

  #after(milliseconds: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, milliseconds)
    this.#timers.add(timer.unref())
  }

  #enqueue(due: Due): void {
    this.#due.push(due)
    if (this.#due.length === 1) this.#after(batchMs, () => this.#flush())
  }

  #flush(): void {
    const byCallback = Map.groupBy(this.#due, ({ message, item }) => `${message.from.phoneNumberId} ${item.list}`)
    this.#due = []
    for (const due of byCallback.values())
      for (let start = 0; start < due.length; start += maxBatch) void this.#post(due.slice(start, start + maxBatch), 0)
  }

  async #post(batch: Due[], attempt: number): Promise<void> {
    const [first] = batch
    const target = first && this.#targetOf(first.message.from, first.item.field)
    if (!target || this.#isStopped) return
    if (await postCallback(target, toCallback(batch))) {
      for (const { message, status } of batch) if (status) target.onCallbackAccepted?.({ status, message })
      return
    }
    const wait = retryMs[attempt]
    if (wait !== undefined) this.#after(wait, () => void this.#post(batch, attempt + 1))
  }
}

/** Reference, section 4.3. A batch only has items of one list and one number. */
function toCallback(batch: Due[]): object {
  const [first] = batch
  if (!first) return {}
  const { from } = first.message
  const { field, list } = first.item
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: from.wabaId,
        changes: [
          {
            field,
            value: {
              messaging_product: 'whatsapp',
              metadata: {
                display_phone_number: digitsOf(from.displayPhoneNumber),
                phone_number_id: from.phoneNumberId,
              },
              ...(list !== 'statuses' && { contacts: listContacts(batch) }),
              [list]: batch.map(({ item }) => item.value),
            },
          },
        ],
      },
    ],
  }
}

function listContacts(batch: Due[]): object[] {
  const users = new Set(batch.map(({ message }) => message.waId))
  return Array.from(users, (waId) => ({ profile: { name: 'Ada' }, wa_id: waId }))
}

function toStatus(message: AcceptedMessage, report: PlannedStatus): CallbackItem {
  const value = {
    id: message.waMessageId,
    status: report.status,
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: message.waId,
    ...(message.callbackData !== undefined && { biz_opaque_callback_data: message.callbackData }),
    ...(report.status === 'failed' ? { errors: [toError(report)] } : { pricing: toPricing(message) }),
  }
  return { field: 'messages', list: 'statuses', value }
}

function toError({ code = 131026, details }: PlannedStatus): object {
  const failure: { title: string; details?: string } = failures[code]
  return {
    code,
    title: failure.title,
    message: failure.title,
    error_data: { details: details ?? failure.details ?? failure.title },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  }
}

function toPricing({ template }: AcceptedMessage): object {
  return { billable: true, pricing_model: 'PMP', type: 'regular', category: template.category.toLowerCase() }
}
