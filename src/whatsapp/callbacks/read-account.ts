import { cutStorable, toDate } from '../wire-values.ts'
import { AccountAlertValue, AccountValue, CapabilityValue, type Entry, NumberQualityValue } from './wire.ts'

/**
 * A change of a WhatsApp Business Account, of its business portfolio or of one of its numbers. `recheck` means that the
 * event does not contain the new state.
 */
export interface ReportedAccount {
  /** The ID of a WhatsApp Business Account or of a business portfolio. */
  ownerId: string
  /** Set if the event is about one number. */
  number?: OneNumber
  change: 'disabled' | 'reinstated' | 'recheck'
  /** Undefined if WhatsApp gave no readable time. */
  at?: Date | undefined
  reason: string
  messagingLimit?: string
  notices: ReportedNotice[]
}

type OneNumber = { phoneNumberId: string } | { displayDigits: string }

/** A restriction, warning or alert of WhatsApp, or its end. */
export interface ReportedNotice {
  /** Identifies the problem: a later report about it replaces an earlier one. */
  key: string
  kind: 'restriction' | 'warning' | 'alert'
  /** What WhatsApp calls it, such as `UTILITY_TEMPLATE_ABUSE`. */
  type: string
  description?: string
  restrictions: { type: string; until?: Date }[]
  /** Undefined if WhatsApp did not say it. */
  at: Date | undefined
  isOver: boolean
}

/** Texts are stored. */
const maxTextLength = 500

const removalEvents = new Set(['ACCOUNT_DELETED', 'ACCOUNT_OFFBOARDED', 'PARTNER_REMOVED', 'PARTNER_APP_UNINSTALLED'])

/** Whether the account was removed or disconnected; otherwise, WhatsApp banned it. `event`: as in `reason`, with its cause. */
export function isRemoval(event: string): boolean {
  return removalEvents.has(event.replace(/:.*/s, ''))
}

/** Returns undefined for a value that cannot be read. */
export function readAccountUpdate({ id, time: at }: Entry, field: string, value: unknown): ReportedAccount | undefined {
  if (field === 'account_update') return readAccount(id, at, value)
  if (id === undefined) return undefined
  const recheck = { ownerId: id, change: 'recheck', reason: field, notices: [] } as const satisfies ReportedAccount
  switch (field) {
    case 'account_alerts':
      return readAlert(id, at, value)
    case 'business_capability_update': {
      const limit = toLimit(CapabilityValue.safeParse(value).data?.max_daily_conversations_per_business)
      return { ...recheck, notices: [], ...(limit !== undefined && { messagingLimit: limit }) }
    }
    case 'phone_number_quality_update': {
      // The limit is that of the portfolio, whose other numbers are not named.
      const { max_daily_conversations_per_business: max, current_limit: tier } =
        NumberQualityValue.safeParse(value).data ?? {}
      const limit = toLimit(max ?? tier)
      return { ...recheck, notices: [], ...(limit !== undefined && { messagingLimit: limit }) }
    }
    default:
      return { ...recheck, notices: [] }
  }
}

/** WhatsApp writes the limit as a tier or as a number. */
function toLimit(limit: string | undefined): string | undefined {
  if (limit === undefined || limit === 'TIER_NOT_SET') return undefined
  if (/^TIER_\w{1,20}$/.test(limit)) return limit
  const people = /^[1-9]\d{0,8}$/.test(limit) ? Number(limit) : undefined
  return people === undefined ? undefined : `TIER_${people % 1000 === 0 ? `${people / 1000}K` : people}`
}

function readAccount(id: string | undefined, at: Date | undefined, value: unknown): ReportedAccount | undefined {
  const account = AccountValue.safeParse(value)
  if (!account.success) return undefined
  const { event, ban_info: ban, waba_info: waba, phone_number: phoneNumber, disconnection_info: lost } = account.data
  const ownerId = waba?.waba_id ?? id
  if (ownerId === undefined) return undefined
  const disabled = removalEvents.has(event) || ban?.waba_ban_state === 'DISABLE'
  const reinstated = event === 'ACCOUNT_RECONNECTED' || ban?.waba_ban_state === 'REINSTATE'
  return {
    ownerId,
    ...(phoneNumber !== undefined && { number: { displayDigits: phoneNumber.replaceAll(/\D/g, '') } }),
    change: disabled ? 'disabled' : reinstated ? 'reinstated' : 'recheck',
    at,
    reason: lost?.reason === undefined ? event : `${event}: ${cutStorable(lost.reason, maxTextLength)}`,
    notices: readNotices(account.data, at),
  }
}

/** Autumn reference, section 3.1: the same event restricts, warns, and ends a restriction. */
function readNotices(account: AccountValue, at: Date | undefined): ReportedNotice[] {
  const { event, ban_info: ban, violation_info: violation, restriction_info: restrictions = [] } = account
  if (event === 'DISABLED_UPDATE') return readBan(ban ?? {}, at)
  if (event !== 'ACCOUNT_RESTRICTION' && event !== 'ACCOUNT_VIOLATION') return []
  const reported = cutStorable(violation?.violation_type ?? event, maxTextLength)
  const type = reported.replace(/_(RECOVERY|UNBAN)$/, '')
  const notice = { type, restrictions: [], at }
  if (type !== reported)
    return [
      { ...notice, key: `restriction ${type}`, kind: 'restriction', isOver: true },
      { ...notice, key: `warning ${type}`, kind: 'warning', isOver: true },
    ]
  // WhatsApp reports a violation and the restriction that follows from it apart, so they have keys of their own.
  const kind = event === 'ACCOUNT_RESTRICTION' && restrictions.length > 0 ? 'restriction' : 'warning'
  const listed = restrictions.flatMap(({ restriction_type, expiration }) => {
    if (restriction_type === undefined) return []
    const until = toTime(expiration)
    return [{ type: cutStorable(restriction_type, maxTextLength), ...(until && { until }) }]
  })
  const remediation = restrictions.find((one) => one.remediation !== undefined)?.remediation
  const description = remediation === undefined ? {} : { description: cutStorable(remediation, maxTextLength) }
  return [{ ...notice, ...description, key: `${kind} ${type}`, kind, restrictions: listed, isOver: false }]
}

function readBan(
  { waba_ban_state: state, waba_ban_date: date }: NonNullable<AccountValue['ban_info']>,
  at: Date | undefined,
): ReportedNotice[] {
  if (state === undefined) return []
  const description = date === undefined ? {} : { description: cutStorable(date, maxTextLength) }
  const notice = { key: 'warning SCHEDULE_FOR_DISABLE', kind: 'warning', type: 'SCHEDULE_FOR_DISABLE' } as const
  return [{ ...notice, ...description, restrictions: [], at, isOver: state !== 'SCHEDULE_FOR_DISABLE' }]
}

/** The end of a restriction as Unix seconds, as a number or text, or as a date. */
function toTime(expiration: string | undefined): Date | undefined {
  if (expiration === undefined) return undefined
  if (/^\d+$/.test(expiration)) return toDate(Number(expiration))
  const milliseconds = Date.parse(expiration)
  return Number.isNaN(milliseconds) ? undefined : toDate(milliseconds)
}

/** What WhatsApp reports as an alert although it is not a problem. */
const goodNews = new Set(['OBA_APPROVED'])

/** Older payloads have no `alert_info`, and its keys beside `entity_type` (autumn reference, section 3.2). */
function readAlert(id: string, at: Date | undefined, value: unknown): ReportedAccount | undefined {
  const alert = AccountAlertValue.safeParse(value).data
  const { alert_type, alert_severity, alert_status, alert_description } = alert?.alert_info ?? alert ?? {}
  if (!alert || alert_type === undefined) return undefined
  const type = cutStorable(alert_type, maxTextLength)
  const isOver = alert_status === 'NONE' || alert_severity === 'INFORMATIONAL' || goodNews.has(type)
  const isOfNumber = alert.entity_type === 'PHONE_NUMBER' && alert.entity_id !== undefined
  return {
    ownerId: id,
    ...(isOfNumber && { number: { phoneNumberId: alert.entity_id ?? '' } }),
    change: 'recheck',
    reason: 'account_alerts',
    notices: [
      {
        // Approval ends what a rejection began.
        key: `alert ${type.replace(/^OBA_.*/, 'OBA')}`,
        kind: 'alert',
        type,
        ...(alert_description !== undefined && { description: cutStorable(alert_description, maxTextLength) }),
        restrictions: [],
        at,
        isOver,
      },
    ],
  }
}
