import { request } from 'undici'
import { signCallback } from '../callbacks/signature.ts'
import { failures } from './errors.ts'
import type { AcceptedMessage } from './state.ts'

/** A status that a message will have, so many milliseconds after it was accepted. */
export interface PlannedReport {
  status: 'sent' | 'delivered' | 'read' | 'failed'
  afterMs: number
  /** Why it failed: a code of Meta's. */
  code?: keyof typeof failures
}

const sent: PlannedReport = { status: 'sent', afterMs: 150 }
const delivered: PlannedReport = { status: 'delivered', afterMs: 600 }
const read: PlannedReport = { status: 'read', afterMs: 1_500 }

/** What becomes of a message, by how its recipient behaves. */
export const plans = {
  usual: [sent, delivered, read],
  neverRead: [sent, delivered],
  /** `delivered` is not told when a message is read at once (reference, section 4.3). */
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
  /** With several devices one can fail and another receive. */
  failedThenDelivered: [sent, { status: 'failed', afterMs: 400, code: 131026 }, { ...delivered, afterMs: 900 }],
  silent: [],
} as const satisfies Record<string, readonly PlannedReport[]>

export type Plan = keyof typeof plans

/** Where statuses are posted to, and the secret of the app that signs them. */
export interface CallbackTarget {
  url: string
  appSecret: string
  /** Told when a callback was taken, status by status. */
  onTaken?: (report: { status: PlannedReport['status']; message: AcceptedMessage }) => void
}

interface Due {
  message: AcceptedMessage
  report: PlannedReport
}

/** What is due within this time goes into one callback, at most a thousand (reference, section 4.2). */
const batchMs = 50
const maxBatch = 1000
/** Meta retries for days; this is a sandbox. */
const retryMs = [250, 1_000, 4_000, 16_000]

/** Posts statuses as Meta does: signed, batched, and again when they were not taken. */
export class StatusReporter {
  #target: CallbackTarget | undefined
  #due: Due[] = []
  readonly #timers = new Set<NodeJS.Timeout>()

  reportTo(target: CallbackTarget | undefined): void {
    this.#target = target
  }

  /** Without a target there is nobody to tell. */
  follow(message: AcceptedMessage, plan: Plan): void {
    if (!this.#target) return
    for (const report of plans[plan]) this.#after(report.afterMs, () => this.#enqueue({ message, report }))
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#target = undefined
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
    const byNumber = Map.groupBy(this.#due, ({ message }) => message.from.phoneNumberId)
    this.#due = []
    for (const due of byNumber.values())
      for (let start = 0; start < due.length; start += maxBatch) void this.#post(due.slice(start, start + maxBatch), 0)
  }

  async #post(batch: Due[], attempt: number): Promise<void> {
    const target = this.#target
    if (!target) return
    if (await post(target, batch)) {
      for (const { message, report } of batch) target.onTaken?.({ status: report.status, message })
      return
    }
    const wait = retryMs[attempt]
    if (wait !== undefined) this.#after(wait, () => void this.#post(batch, attempt + 1))
  }
}

async function post({ url, appSecret }: CallbackTarget, batch: Due[]): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(toCallback(batch)))
  try {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signCallback(body, appSecret) },
      body,
    })
    await response.body.dump()
    return response.statusCode === 200
  } catch {
    return false
  }
}

/** Reference, section 4.3. All of a batch is of one number. */
function toCallback(batch: Due[]): object {
  const from = batch[0]?.message.from
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: from?.wabaId,
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: {
                display_phone_number: from?.displayPhoneNumber.replaceAll(/\D/g, ''),
                phone_number_id: from?.phoneNumberId,
              },
              statuses: batch.map(toStatus),
            },
          },
        ],
      },
    ],
  }
}

function toStatus({ message, report }: Due): object {
  return {
    id: message.waMessageId,
    status: report.status,
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: message.waId,
    ...(message.callbackData !== undefined && { biz_opaque_callback_data: message.callbackData }),
    ...(report.status === 'failed' ? { errors: [toError(report.code ?? 131026)] } : { pricing: toPricing(message) }),
  }
}

function toError(code: keyof typeof failures): object {
  const failure: { title: string; details?: string } = failures[code]
  return {
    code,
    title: failure.title,
    message: failure.title,
    error_data: { details: failure.details ?? failure.title },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  }
}

function toPricing({ template }: AcceptedMessage): object {
  return { billable: true, pricing_model: 'PMP', type: 'regular', category: template.category.toLowerCase() }
}
