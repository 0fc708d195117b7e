import { z } from 'zod'
import { freeReasons, pricingCategories } from '../../../contracts/pricing.ts'
import { ErrorData, lenient, lenientList, toDate, toStorable, WireId, WireNumber, WireWord } from '../wire-values.ts'

/**
 * The callbacks that Meta posts, in Meta's terms (reference, section 4). Everything except the envelope is optional and
 * may have any type: unreadable items are ignored and never rejected.
 */

/** Undefined if the time is absent or unreadable: what happened is still known. */
const WireTime = lenient(WireNumber.transform(toDate))

const Text = z.string().overwrite(toStorable)
/** Words that are compared. Meta writes some of them in both cases (reference, section 4.4). */
const Lower = Text.toLowerCase()

/** A whole number of at most nine digits, as all of Meta's codes are. */
const ErrorCode = WireNumber.pipe(z.int().min(0).max(999_999_999))

/** Without its list `changes`, which is iterated separately. */
export const Entry = z.object({
  /** Not needed for `messages`, which name the number. */
  id: lenient(WireId),
  /** Absent with `messages`. */
  time: WireTime,
})
export type Entry = z.infer<typeof Entry>

export const Change = z.object({ field: Text, value: z.unknown() })
export type Change = z.infer<typeof Change>

/** Without its lists `statuses`, `messages` and `user_preferences`, which are iterated separately. */
export const MessagesValue = z.object({ metadata: z.object({ phone_number_id: WireId }) })

/** WhatsApp reports one. */
const maxErrors = 10

export const Status = z.object({
  id: Text,
  status: Lower,
  /** Unix seconds as text. */
  timestamp: WireTime,
  /** Absent if the message was sent to a user ID and WhatsApp hides the number. */
  recipient_id: lenient(WireId),
  recipient_user_id: lenient(WireId),
  recipient_parent_user_id: lenient(WireId),
  biz_opaque_callback_data: lenient(Text),
  pricing: lenient(
    z.object({
      billable: lenient(z.boolean()),
      type: lenient(z.string()),
      category: lenient(z.string()),
      subtype: lenient(z.string()),
    }),
  ),
  /** Only the first error is reported. */
  errors: lenientList(
    z.object({
      code: lenient(ErrorCode),
      title: lenient(Text),
      message: lenient(Text),
      error_data: lenient(ErrorData),
    }),
    maxErrors,
  ),
})
export type Status = z.infer<typeof Status>

/** A person shares few contacts at once, each with few numbers. */
const maxShared = 100

/** The fields of a user's message that a reply can have (reference, section 4.3). */
export const UserMessage = z.object({
  id: Text,
  /** Absent if the user hides the number. */
  from: lenient(WireId),
  from_user_id: lenient(WireId),
  from_parent_user_id: lenient(WireId),
  timestamp: WireTime,
  type: Text,
  context: lenient(z.object({ id: lenient(Text) })),
  text: lenient(z.object({ body: Text })),
  button: lenient(z.object({ text: lenient(Text), payload: lenient(Text) })),
  /** Shared contacts. `origin` tells a person's own number from a contact that the person picked. */
  contacts: lenientList(
    z.object({
      origin: lenient(Text),
      phones: lenientList(z.object({ phone: lenient(Text), wa_id: lenient(WireId) }), maxShared),
    }),
    maxShared,
  ),
  interactive: lenient(
    z.object({
      button_reply: lenient(z.object({ id: lenient(Text), title: lenient(Text) })),
      nfm_reply: lenient(z.object({ body: lenient(Text), response_json: lenient(Text) })),
    }),
  ),
})
export type UserMessage = z.infer<typeof UserMessage>

/** An item of `contacts`. WhatsApp leaves out the number if the user hides it. */
export const Contact = z.object({ wa_id: lenient(WireId), user_id: lenient(WireId), parent_user_id: lenient(WireId) })

/** An item of `user_preferences`. */
export const UserPreference = Contact.extend({ category: Lower, value: Lower, timestamp: WireTime })

/**
 * A message of type `system`: the number or the user ID of a user changed (autumn reference, section 2.4). Meta's older
 * reference calls the first `customer_changed_number`, with the earlier number in `customer` and, before v12.0, the new
 * one in `new_wa_id`.
 */
export const SystemMessage = z.object({
  from: lenient(WireId),
  timestamp: WireTime,
  system: z.object({
    type: Text,
    body: lenient(Text),
    customer: lenient(WireId),
    wa_id: lenient(WireId),
    new_wa_id: lenient(WireId),
    user_id: lenient(WireId),
    previous_user_id: lenient(WireId),
    parent_user_id: lenient(WireId),
    previous_parent_user_id: lenient(WireId),
  }),
})

/** An item of `errors` beside the messages of a callback. */
export const CallbackError = z.object({ code: ErrorCode, title: lenient(Text) })

export const TemplateStatusValue = z.object({
  event: WireWord,
  message_template_name: Text,
  message_template_language: Text,
  reason: lenient(Text.min(1)),
})

export const TemplateQualityValue = z.object({
  new_quality_score: WireWord,
  message_template_name: Text,
  message_template_language: Text,
})

export const TemplateCategoryValue = z.object({
  /** The current category if `correct_category` announces another one. */
  new_category: WireWord,
  correct_category: lenient(WireWord),
  /** When the announced change takes effect. */
  category_update_timestamp: WireTime,
  message_template_name: Text,
  message_template_language: Text,
})

export type TemplateCategoryValue = z.infer<typeof TemplateCategoryValue>

/** More would be a mistake, and would be stored. */
const maxRestrictions = 10

export const AccountValue = z.object({
  event: WireWord,
  /** Events about partners name the account here, and the portfolio of the partner as the ID of the entry. */
  waba_info: lenient(z.object({ waba_id: lenient(WireId) })),
  /** Present if the event is about one number: as WhatsApp shows it. */
  phone_number: lenient(WireId),
  ban_info: lenient(z.object({ waba_ban_state: lenient(WireWord), waba_ban_date: lenient(Text) })),
  violation_info: lenient(z.object({ violation_type: lenient(Text) })),
  restriction_info: lenientList(
    z.object({ restriction_type: lenient(Text), expiration: lenient(WireId), remediation: lenient(Text) }),
    maxRestrictions,
  ),
  /** Why a number was removed. */
  disconnection_info: lenient(z.object({ reason: lenient(Text) })),
})
export type AccountValue = z.infer<typeof AccountValue>

const AlertInfo = z.object({
  alert_type: lenient(Text),
  alert_severity: lenient(Text),
  alert_status: lenient(Text),
  alert_description: lenient(Text),
})

export const AccountAlertValue = AlertInfo.extend({
  entity_type: lenient(Text),
  entity_id: lenient(WireId),
  alert_info: lenient(AlertInfo),
})

export const CapabilityValue = z.object({ max_daily_conversations_per_business: lenient(WireId) })

export const NumberQualityValue = CapabilityValue.extend({ current_limit: lenient(Text) })

/** The `pricing` of a status, in Meta's terms (reference, section 4.3). */
export interface StatusPricing {
  billable?: boolean | undefined
  type?: string | undefined
  category?: string | undefined
  subtype?: string | undefined
}

const knownCategories = new Set<string>(pricingCategories)
const knownReasons = new Set<string>(freeReasons)

/**
 * Returns the category if the message is charged, such as `utility`, or the category and the reason if it is free, such
 * as `utility/free_entry_point`. Meta adds categories and reasons at any time. Unknown ones share a name, so that the
 * number of counters stays bounded.
 */
export function toPriceClass({ billable, type, category, subtype }: StatusPricing): string | undefined {
  if (category === undefined) return undefined
  const name = category.toLowerCase().replaceAll('-', '_')
  const known = knownCategories.has(name) ? name : 'other'
  if (subtype === 'paid_exempt') return `${known}/${subtype}`
  // Meta announced that it will remove `billable`, so `type` decides. A message of the Marketing Messages API has none.
  const isCharged = type === undefined ? (billable ?? true) : !type.startsWith('free_')
  if (isCharged) return known
  return `${known}/${type !== undefined && knownReasons.has(type) ? type : 'free'}`
}
