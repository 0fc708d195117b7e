import { type CallbackItem, digitsOf, writeAction } from './recipient-actions.ts'
import { applyReport, type ReportCallback, writeReport } from '../account-reports.ts'
import { failures } from '../errors.ts'
import { businessIdOf } from '../onboarding/phone-numbers.ts'
import { type Plan, type PlannedAction, type PlannedStatus, plans } from './plans.ts'
import { type CallbackEndpoint, postCallback } from '../post-callback.ts'
import type { AcceptedMessage, SimulatedNumber } from '../state.ts'

/** The URL that receives statuses and recipients' actions, and the app secret that signs them. */
export interface CallbackTarget extends CallbackEndpoint {
  /** Called for each status of a callback that was accepted. */
  onCallbackAccepted?: (report: { status: PlannedStatus['status']; message: AcceptedMessage }) => void
}

type TargetOf = (number: SimulatedNumber, field: string) => CallbackTarget | undefined

interface Due {
  message: AcceptedMessage
  item: CallbackItem
  /** Set if the item reports a status. */
  status?: PlannedStatus['status']
}

/** Items of one number that are due within this time share a callback, at most a thousand (reference, section 4.2). */
const batchMs = 50
const maxBatch = 1000
/** Delays between retries. Meta retries for days; a sandbox does not need to. */
const retryMs = [250, 1_000, 4_000, 16_000]

/** Posts statuses and recipients' actions like Meta: signed, batched, and retried until they are accepted. */
export class StatusReporter {
  #due: Due[] = []
  #isStopped = false
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #targetOf: TargetOf
  readonly #randomBytes: (size: number) => Uint8Array

  /** `targetOf` is called for each callback, because subscriptions change. */
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
    for (const action of message.actions) this.#after(action.afterMs, () => this.#act(message, action))
  }

  #act(message: AcceptedMessage, { action, times = 1 }: PlannedAction): void {
    if (action.kind === 'report') {
      applyReport(message.from, action.report)
      void this.#reportAccount(
        message.from,
        writeReport(message.from, businessIdOf(message.from.wabaId), action.report),
      )
      return
    }
    const item = writeAction(message, action, this.#randomBytes)
    if (item) for (let time = 0; time < times; time++) this.#enqueue({ message, item })
  }

  async #reportAccount(number: SimulatedNumber, report: ReportCallback, attempt = 0): Promise<void> {
    const { field, entryId, value } = report
    const target = this.#targetOf(number, field)
    if (!target || this.#isStopped) return
    const time = Math.floor(Date.now() / 1000)
    const entry = [{ id: entryId, time, changes: [{ field, value }] }]
    if (await postCallback(target, { object: 'whatsapp_business_account', entry })) return
    const wait = retryMs[attempt]
    if (wait !== undefined) this.#after(wait, () => void this.#reportAccount(number, report, attempt + 1))
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
    const byCallback = Map.groupBy(
      this.#due,
      ({ message, item }) => `${message.from.phoneNumberId} ${item.field} ${item.list}`,
    )
    this.#due = []
    for (const due of byCallback.values())
      for (let start = 0; start < due.length; start += maxBatch) void this.#post(due.slice(start, start + maxBatch), 0)
  }

  async #post(batch: Due[], attempt: number): Promise<void> {
    const [first] = batch
    const target = first && this.#targetOf(first.message.from, subscribedField(first.item))
    if (!target || this.#isStopped) return
    if (await postCallback(target, toCallback(batch))) {
      for (const { message, status } of batch) if (status) target.onCallbackAccepted?.({ status, message })
      return
    }
    const wait = retryMs[attempt]
    if (wait !== undefined) this.#after(wait, () => void this.#post(batch, attempt + 1))
  }
}

/** So that the sandbox shows what Waybill does with a field that it does not subscribe to. */
function subscribedField({ field }: CallbackItem): string {
  return field === 'history' ? 'messages' : field
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
              ...listContacts(batch),
              [list]: batch.map(({ item }) => item.value),
            },
          },
        ],
      },
    ],
  }
}

const listsWithoutContacts: ReadonlySet<string> = new Set(['user_actions', 'history', 'errors'])

/** Absent for failures and system messages (autumn reference, sections 2.2 and 2.4), and where no message is. */
function listContacts(batch: Due[]): { contacts?: object[] } {
  const users = new Map(
    batch.flatMap(({ message: { user }, item, status }) =>
      status === 'failed' ||
      listsWithoutContacts.has(item.list) ||
      ('type' in item.value && item.value.type === 'system')
        ? []
        : [[user.userId, user]],
    ),
  )
  if (users.size === 0) return {}
  // Usernames are shown with these only.
  const isSeen = batch.some(({ status }) => status === 'delivered' || status === 'read')
  const contacts = Array.from(users.values(), ({ waId, userId, username }) => ({
    profile: { name: 'Ada', ...(isSeen && username !== undefined && { username }) },
    ...(waId !== undefined && { wa_id: waId }),
    user_id: userId,
  }))
  return { contacts }
}

function toStatus(message: AcceptedMessage, report: PlannedStatus): CallbackItem {
  const isToNumber = message.waId === message.user.waId
  const value = {
    id: message.waMessageId,
    status: report.status,
    timestamp: String(Math.floor(Date.now() / 1000)),
    ...(isToNumber && { recipient_id: message.waId }),
    ...(!(isToNumber && report.status === 'failed') && { recipient_user_id: message.user.userId }),
    ...(message.callbackData !== undefined && { biz_opaque_callback_data: message.callbackData }),
    ...(report.status === 'failed' ? { errors: [toError(report)] } : { pricing: toPricing(message) }),
  }
  return { field: message.isStandby ? 'standby' : 'messages', list: 'statuses', value }
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

/** A message of the Marketing Messages API has a category of its own, and no `type` (autumn reference, section 1.6). */
function toPricing({ template, isMarketingApi, freeBecause }: AcceptedMessage): object {
  const category = template.category.toLowerCase()
  if (freeBecause === 'free_entry_point') return { billable: false, pricing_model: 'PMP', type: freeBecause, category }
  const pricing = { billable: true, pricing_model: 'PMP' }
  if (freeBecause) return { ...pricing, type: 'regular', category, subtype: freeBecause }
  if (isMarketingApi) return { ...pricing, category: 'marketing_lite' }
  return { ...pricing, type: 'regular', category }
}
