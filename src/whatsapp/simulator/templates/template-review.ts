import { type CallbackEndpoint, postCallback } from '../post-callback.ts'
import type { GraphTemplate, TemplateList } from './template-list.ts'

/** The outcomes of a review, by the end of the template's name. */
export const reviewedNames = [
  { ending: '_rejected', does: 'The review rejects it, with the reason `INVALID_FORMAT`; once edited, it is approved' },
  { ending: '_promotional', does: 'WhatsApp creates it as `MARKETING`, and approves it' },
  { ending: '_recategorised', does: 'It is approved, and made `MARKETING` a moment later' },
  {
    ending: '_changing',
    does: 'It is approved. A moment later, WhatsApp announces the category `MARKETING` for the next day',
  },
  { ending: '_paused', does: 'It is approved, and paused for low quality a moment later' },
  { ending: '_disabled', does: 'It is approved, then paused, then disabled' },
  { ending: '_pending', does: 'The review never ends' },
] as const

const reviewMilliseconds = 1_000
const laterMilliseconds = 1_000
/** Meta retries for days; a sandbox does not need to. */
const retryMilliseconds = [250, 1_000, 4_000]

/** Reviews new templates like WhatsApp, and reports the results by callback. */
export class TemplateReviewer {
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #rejected = new Set<string>()
  readonly #targetOf: (wabaId: string, field: string) => CallbackEndpoint | undefined

  constructor(targetOf: (wabaId: string, field: string) => CallbackEndpoint | undefined) {
    this.#targetOf = targetOf
  }

  review(wabaId: string, list: TemplateList, id: string): void {
    const find = () => list.all().find((template) => template.id === id)
    const set = (change: Partial<GraphTemplate>, reason = 'NONE') => {
      const template = find()
      if (!template || template.status === 'PENDING_DELETION') return
      list.set(template.name, template.language, change)
      if (change.status !== undefined)
        this.#report(wabaId, 'message_template_status_update', toStatus(template, change.status, reason))
      else if (change.category !== undefined)
        this.#report(wabaId, 'template_category_update', toCategory(template, change.category))
      else if (change.correct_category !== undefined)
        this.#report(wabaId, 'template_category_update', toAnnouncement(template, change.correct_category))
    }
    const name = find()?.name ?? ''
    if (name.endsWith('_pending')) return
    if (name.endsWith('_rejected') && !this.#rejected.has(id)) {
      this.#rejected.add(id)
      this.#after(reviewMilliseconds, () =>
        set({ status: 'REJECTED', rejected_reason: 'INVALID_FORMAT' }, 'INVALID_FORMAT'),
      )
      return
    }
    this.#after(reviewMilliseconds, () => set({ status: 'APPROVED', rejected_reason: 'NONE' }))
    const later = (times: number, change: Partial<GraphTemplate>) =>
      this.#after(reviewMilliseconds + times * laterMilliseconds, () => set(change))
    if (name.endsWith('_recategorised')) later(1, { category: 'MARKETING' })
    if (name.endsWith('_changing')) later(1, { correct_category: 'MARKETING' })
    if (name.endsWith('_paused') || name.endsWith('_disabled'))
      later(1, { status: 'PAUSED', quality_score: { score: 'RED', date: Math.floor(Date.now() / 1000) } })
    if (name.endsWith('_disabled')) later(2, { status: 'DISABLED' })
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #after(milliseconds: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, milliseconds)
    this.#timers.add(timer.unref())
  }

  #report(wabaId: string, field: string, value: object, attempt = 0): void {
    const target = this.#targetOf(wabaId, field)
    if (!target) return
    const body = {
      object: 'whatsapp_business_account',
      entry: [{ id: wabaId, time: now(), changes: [{ field, value }] }],
    }
    void postCallback(target, body).then((accepted) => {
      const wait = retryMilliseconds[attempt]
      if (!accepted && wait !== undefined) this.#after(wait, () => this.#report(wabaId, field, value, attempt + 1))
    })
  }
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}

/** Reference, section 4.4. */
function toStatus({ id, name, language }: GraphTemplate, event: string, reason: string): object {
  return {
    event,
    message_template_id: Number(id),
    message_template_name: name,
    message_template_language: language,
    reason,
  }
}

function toCategory({ id, name, language, category }: GraphTemplate, next: string): object {
  return {
    message_template_id: Number(id),
    message_template_name: name,
    message_template_language: language,
    previous_category: category,
    new_category: next,
  }
}

const noticeSeconds = 86_400

/** Autumn reference, section 3.1: `new_category` is the current one. */
function toAnnouncement({ id, name, language, category }: GraphTemplate, announced: string): object {
  return {
    message_template_id: Number(id),
    message_template_name: name,
    message_template_language: language,
    correct_category: announced,
    new_category: category,
    category_update_timestamp: now() + noticeSeconds,
  }
}
