import {
  AccountValue,
  Callback,
  MessagesValue,
  Status,
  TemplateQualityValue,
  TemplateStatusValue,
} from './inbound-wire.ts'

/** A status of a message, as far as it matters to us. */
export interface StatusUpdate {
  phoneNumberId: string
  waMessageId: string
  status: 'sent' | 'delivered' | 'read' | 'failed'
  at: Date
  /** What we gave as `biz_opaque_callback_data`: our message id. */
  callbackData: string | undefined
  error: { code: string; message: string } | undefined
}

/** A change of a template. `resync`: the event does not say what the status is now. */
export interface TemplateUpdate {
  wabaId: string
  name: string
  language: string
  change: { status: string } | { quality: string } | 'resync'
}

/** A change of a whole WhatsApp Business Account. */
export type AccountUpdate = { wabaId: string; change: 'disabled' | 'reinstated' | 'look'; reason: string }

export interface Inbound {
  statuses: StatusUpdate[]
  templates: TemplateUpdate[]
  accounts: AccountUpdate[]
  /** Items of kinds that we do not know or need, such as messages of users. */
  ignored: number
}

/**
 * Reads a callback. Meta adds fields, kinds and values at any time, and a refused callback would be
 * sent again for days: what is not understood is counted and otherwise accepted.
 */
export function readCallback(body: unknown): Inbound {
  const inbound: Inbound = { statuses: [], templates: [], accounts: [], ignored: 0 }
  const callback = Callback.safeParse(body)
  if (!callback.success) return { ...inbound, ignored: 1 }
  for (const entry of callback.data.entry)
    for (const { field, value } of entry.changes) readChange(inbound, entry.id, field, value)
  return inbound
}

function readChange(inbound: Inbound, wabaId: string, field: string, value: unknown): void {
  switch (field) {
    case 'messages':
      return readMessages(inbound, value)
    case 'message_template_status_update':
    case 'message_template_quality_update':
      return readTemplate(inbound, wabaId, value)
    case 'account_update':
      return readAccount(inbound, wabaId, value)
    case 'message_template_components_update':
    case 'template_category_update':
    case 'phone_number_quality_update':
    case 'phone_number_name_update':
    case 'account_review_update':
      inbound.accounts.push({ wabaId, change: 'look', reason: field })
      return
    default:
      inbound.ignored++
  }
}

function readMessages(inbound: Inbound, value: unknown): void {
  const messages = MessagesValue.safeParse(value)
  if (!messages.success) {
    inbound.ignored++
    return
  }
  inbound.ignored += messages.data.messages?.length ?? 0
  for (const item of messages.data.statuses ?? []) {
    const status = Status.safeParse(item)
    const update = status.success ? toUpdate(status.data, messages.data.metadata.phone_number_id) : undefined
    if (update) inbound.statuses.push(update)
    else inbound.ignored++
  }
}

const known = new Set<string>(['sent', 'delivered', 'read', 'failed'] satisfies StatusUpdate['status'][])

function isKnown(status: string): status is StatusUpdate['status'] {
  return known.has(status)
}

/** The year 9999 ends here, and with it what ISO 8601 writes without further agreement. */
const lastSecond = 253_402_300_800

function toUpdate(
  { id, status, timestamp, biz_opaque_callback_data, errors }: Status,
  phoneNumberId: string,
): StatusUpdate | undefined {
  if (!isKnown(status) || !(timestamp >= 0 && timestamp < lastSecond) || id === '') return undefined
  const [error] = errors ?? []
  return {
    phoneNumberId,
    waMessageId: id,
    status,
    at: new Date(timestamp * 1000),
    callbackData: biz_opaque_callback_data,
    error:
      status === 'failed'
        ? {
            code: error ? String(error.code) : 'UNKNOWN',
            message: error?.error_data?.details ?? error?.title ?? error?.message ?? 'WhatsApp gave no reason',
          }
        : undefined,
  }
}

/** Events whose name is the status that they lead to. The others tell of something else (reference, 4.4). */
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

function readTemplate(inbound: Inbound, wabaId: string, value: unknown): void {
  const quality = TemplateQualityValue.safeParse(value)
  if (quality.success) {
    inbound.templates.push({ ...templateOf(wabaId, quality.data), change: { quality: quality.data.new_quality_score } })
    return
  }
  const status = TemplateStatusValue.safeParse(value)
  if (!status.success) {
    inbound.ignored++
    return
  }
  const event = status.data.event.toUpperCase()
  inbound.templates.push({
    ...templateOf(wabaId, status.data),
    change: statusEvents.has(event) ? { status: event } : 'resync',
  })
}

/** Callbacks write `en-US` where the API writes `en_US`. */
function templateOf(wabaId: string, value: { message_template_name: string; message_template_language: string }) {
  return { wabaId, name: value.message_template_name, language: value.message_template_language.replace('-', '_') }
}

const endings = new Set(['ACCOUNT_DELETED', 'ACCOUNT_OFFBOARDED', 'PARTNER_REMOVED', 'PARTNER_APP_UNINSTALLED'])

function readAccount(inbound: Inbound, wabaId: string, value: unknown): void {
  const account = AccountValue.safeParse(value)
  if (!account.success) {
    inbound.ignored++
    return
  }
  const { event, ban_info: ban } = account.data
  const disabled = endings.has(event) || ban?.waba_ban_state === 'DISABLE'
  const reinstated = event === 'ACCOUNT_RECONNECTED' || ban?.waba_ban_state === 'REINSTATE'
  inbound.accounts.push({ wabaId, change: disabled ? 'disabled' : reinstated ? 'reinstated' : 'look', reason: event })
}
