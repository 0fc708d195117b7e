import {
  CallbackError,
  Change,
  Entry,
  MessagesValue,
  Status,
  TemplateCategoryValue,
  TemplateQualityValue,
  TemplateStatusValue,
  toPriceClass,
} from './wire.ts'
import { readAccountUpdate, type ReportedAccount } from './read-account.ts'
import {
  type CompleteIdentity,
  type IdentityChange,
  indexContacts,
  readIdentity,
  readIdentityChange,
  type WhatsAppIdentity,
} from './read-identity.ts'
import { readPreference, readReply, type UserPreferenceChange, type UserReply } from './read-reply.ts'
import { cutStorable } from '../wire-values.ts'
import { unknownCode } from '../../../contracts/fields.ts'

/** The status of a message. */
export interface StatusUpdate {
  phoneNumberId: string
  waMessageId: string
  status: 'sent' | 'delivered' | 'read' | 'failed'
  /** Undefined if WhatsApp gave no readable time. */
  at: Date | undefined
  recipient: WhatsAppIdentity
  /** Our message ID, sent to WhatsApp as `biz_opaque_callback_data`. */
  callbackData: string | undefined
  /** What WhatsApp charges for the message, as returned by `toPriceClass`. */
  pricing: string | undefined
  error: { code: string; message: string } | undefined
}

/** An error that belongs to no message, for example because WhatsApp cannot pass one on. */
export interface ReportedError {
  phoneNumberId: string
  code: number
  title: string | undefined
}

/** A change of a template. `resync` means that the event does not contain the new status. */
export interface TemplateUpdate {
  wabaId: string
  name: string
  language: string
  change:
    | { status: string; reason?: string }
    | { quality: string }
    | { category: string }
    | AnnouncedCategory
    | 'resync'
}

/** WhatsApp will give the template another category. If it is the current one, an announcement was withdrawn. */
interface AnnouncedCategory {
  currentCategory: string
  announcedCategory: string
  takesEffectAt: Date | undefined
}

export interface Inbound {
  statuses: StatusUpdate[]
  replies: UserReply[]
  preferences: UserPreferenceChange[]
  identityChanges: IdentityChange[]
  templates: TemplateUpdate[]
  accounts: ReportedAccount[]
  errors: ReportedError[]
  /** The numbers of callbacks about conversations that another app answers. */
  standby: string[]
  /** Number of unknown or unused items, such as incoming media. */
  ignored: number
}

type Item =
  | { status: StatusUpdate }
  | { reply: UserReply }
  | { preference: UserPreferenceChange }
  | { identityChange: IdentityChange }
  | { template: TemplateUpdate }
  | { account: ReportedAccount }
  | { error: ReportedError }
  | { standby: string }
  | { ignored: number }

/** Parsing this many items takes a few milliseconds. */
const maxItemsPerPart = 1000

/**
 * Parses a callback part by part, in order; yields at least one part. Meta adds fields, kinds and values at any time
 * and retries rejected callbacks for days, so unknown content is counted and otherwise accepted.
 */
export function* readCallback(body: unknown): Generator<Inbound, void, void> {
  let [part, items] = [emptyInbound(), 0]
  for (const item of readItems(body)) {
    if (items === maxItemsPerPart) {
      yield part
      ;[part, items] = [emptyInbound(), 0]
    }
    items++
    if ('status' in item) part.statuses.push(item.status)
    else if ('reply' in item) part.replies.push(item.reply)
    else if ('preference' in item) part.preferences.push(item.preference)
    else if ('identityChange' in item) part.identityChanges.push(item.identityChange)
    else if ('template' in item) part.templates.push(item.template)
    else if ('account' in item) part.accounts.push(item.account)
    else if ('error' in item) part.errors.push(item.error)
    else if ('standby' in item) part.standby.push(item.standby)
    else part.ignored += item.ignored
  }
  yield part
}

function emptyInbound(): Inbound {
  return {
    statuses: [],
    replies: [],
    preferences: [],
    identityChanges: [],
    templates: [],
    accounts: [],
    errors: [],
    standby: [],
    ignored: 0,
  }
}

/** Iterates over lists without a schema, which would parse a million items before the first one is used. */
function* readItems(body: unknown): Generator<Item, void, void> {
  for (const entry of listAt(body, 'entry') ?? [undefined]) {
    const source = Entry.safeParse(entry).data
    for (const item of (source && listAt(entry, 'changes')) || [undefined]) {
      const change = hasTexts(item, 'field') ? Change.safeParse(item).data : undefined
      if (!source || !change) yield { ignored: 1 }
      else if (change.field === 'messages') yield* readMessages(change.value)
      else if (change.field === 'user_preferences') yield* readPreferences(change.value)
      else if (change.field === 'standby') yield* readStandby(change.value)
      else yield readChange(source, change)
    }
  }
}

/** Rejects bad items before a schema does: a failed parse takes microseconds, which add up over a million items. */
function hasTexts(item: unknown, ...keys: string[]): boolean {
  return (
    typeof item === 'object' &&
    item !== null &&
    keys.every((key) => typeof (item as Record<string, unknown>)[key] === 'string')
  )
}

function listAt(value: unknown, key: string): unknown[] | undefined {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
  return Array.isArray(list) ? list : undefined
}

function readChange(entry: Entry, { field, value }: Change): Item {
  switch (field) {
    case 'message_template_status_update':
    case 'message_template_quality_update':
    case 'template_category_update':
      return entry.id === undefined ? { ignored: 1 } : (readTemplate(entry.id, value) ?? recheck(entry.id, field))
    case 'account_update':
    case 'account_alerts':
    case 'business_capability_update':
    case 'message_template_components_update':
    case 'phone_number_quality_update':
    case 'phone_number_name_update':
    case 'account_review_update': {
      const account = readAccountUpdate(entry, field, value)
      return account ? { account } : { ignored: 1 }
    }
    default:
      return { ignored: 1 }
  }
}

function* readMessages(value: unknown): Generator<Item, void, void> {
  const messages = MessagesValue.safeParse(value)
  if (!messages.success) {
    yield { ignored: 1 }
    return
  }
  const { phone_number_id: phoneNumberId } = messages.data.metadata
  const complete = indexContacts(listAt(value, 'contacts'))
  for (const item of listAt(value, 'messages') ?? []) yield readUserMessage(item, phoneNumberId, complete)
  for (const item of listAt(value, 'statuses') ?? []) {
    const status = hasTexts(item, 'id', 'status') ? Status.safeParse(item) : undefined
    const update = status?.success ? toUpdate(status.data, phoneNumberId, complete) : undefined
    yield update ? { status: update } : { ignored: 1 }
  }
  for (const item of listAt(value, 'errors') ?? []) yield readError(item, phoneNumberId)
  for (const _click of listAt(value, 'user_actions') ?? []) yield { ignored: 1 }
}

/** Their messages and statuses are copies for the apps that do not answer (autumn reference, section 5.4). */
function* readStandby(value: unknown): Generator<Item, void, void> {
  const phoneNumberId = MessagesValue.safeParse(value).data?.metadata.phone_number_id
  if (phoneNumberId !== undefined) yield { standby: phoneNumberId }
  yield { ignored: 1 }
}

const maxTitleLength = 200

function readError(item: unknown, phoneNumberId: string): Item {
  const error = CallbackError.safeParse(item).data
  if (!error) return { ignored: 1 }
  return { error: { phoneNumberId, code: error.code, title: error.title && cutStorable(error.title, maxTitleLength) } }
}

function readUserMessage(item: unknown, phoneNumberId: string, complete: CompleteIdentity): Item {
  if (!hasTexts(item, 'id', 'type')) return { ignored: 1 }
  const reply = readReply(item, phoneNumberId, complete)
  if (reply) return { reply }
  const identityChange = readIdentityChange(item, phoneNumberId)
  return identityChange ? { identityChange } : { ignored: 1 }
}

function* readPreferences(value: unknown): Generator<Item, void, void> {
  const parsed = MessagesValue.safeParse(value)
  const preferences = listAt(value, 'user_preferences')
  if (!parsed.success || !preferences) {
    yield { ignored: 1 }
    return
  }
  const complete = indexContacts(listAt(value, 'contacts'))
  for (const item of preferences) {
    const preference = hasTexts(item, 'category', 'value')
      ? readPreference(item, parsed.data.metadata.phone_number_id, complete)
      : undefined
    yield preference ? { preference } : { ignored: 1 }
  }
}

const knownStatuses = new Set<string>(['sent', 'delivered', 'read', 'failed'] satisfies StatusUpdate['status'][])

function isKnownStatus(status: string): status is StatusUpdate['status'] {
  return knownStatuses.has(status)
}

function toUpdate(wire: Status, phoneNumberId: string, complete: CompleteIdentity): StatusUpdate | undefined {
  const { id, status, biz_opaque_callback_data, pricing, errors } = wire
  if (!isKnownStatus(status) || id === '') return undefined
  const [error] = errors ?? []
  return {
    phoneNumberId,
    waMessageId: id,
    status,
    at: wire.timestamp,
    recipient: complete(
      readIdentity({
        wa_id: wire.recipient_id,
        user_id: wire.recipient_user_id,
        parent_user_id: wire.recipient_parent_user_id,
      }),
    ),
    callbackData: biz_opaque_callback_data,
    pricing: pricing && toPriceClass(pricing),
    error: status === 'failed' ? toFailure(error) : undefined,
  }
}

/** Stored, and part of each webhook about the failure. */
const maxReasonLength = 500

function toFailure(error: NonNullable<Status['errors']>[number] | undefined): NonNullable<StatusUpdate['error']> {
  const reason = error?.error_data || error?.title || error?.message || 'WhatsApp gave no reason'
  return {
    code: error?.code === undefined ? unknownCode : String(error.code),
    message: cutStorable(reason, maxReasonLength),
  }
}

/** Events that are named after the resulting status (reference, 4.4). */
const statusEvents = new Set([
  'APPROVED',
  'REJECTED',
  'PENDING',
  'PAUSED',
  'DISABLED',
  'IN_APPEAL',
  'LOCKED',
  'LIMIT_EXCEEDED',
  'ARCHIVED',
  'DELETED',
  'PENDING_DELETION',
])

/** Which template changed, or how, is not known: the list of templates says. */
function recheck(ownerId: string, reason: string): Item {
  return { account: { ownerId, change: 'recheck', reason, notices: [] } }
}

function readTemplate(wabaId: string, value: unknown): Item | undefined {
  const category = TemplateCategoryValue.safeParse(value)
  if (category.success)
    return { template: { ...templateOf(wabaId, category.data), change: toCategoryChange(category.data) } }
  const quality = TemplateQualityValue.safeParse(value)
  if (quality.success)
    return { template: { ...templateOf(wabaId, quality.data), change: { quality: quality.data.new_quality_score } } }
  const status = TemplateStatusValue.safeParse(value)
  if (!status.success) return undefined
  const { event, reason = 'NONE' } = status.data
  const change = statusEvents.has(event) ? { status: event, ...(reason !== 'NONE' && { reason }) } : 'resync'
  return { template: { ...templateOf(wabaId, status.data), change } }
}

/** Autumn reference, section 3.1. An announced category must not change the stored one, which decides about the route. */
function toCategoryChange(value: TemplateCategoryValue): TemplateUpdate['change'] {
  const { new_category, correct_category: announced, category_update_timestamp: takesEffectAt } = value
  if (announced === undefined) return { category: new_category }
  return {
    currentCategory: new_category,
    announcedCategory: announced,
    takesEffectAt,
  }
}

/** Callbacks write `en-US` where the API writes `en_US`. */
function templateOf(wabaId: string, value: { message_template_name: string; message_template_language: string }) {
  return { wabaId, name: value.message_template_name, language: value.message_template_language.replace('-', '_') }
}
