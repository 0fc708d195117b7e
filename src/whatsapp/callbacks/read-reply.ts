import { type CompleteIdentity, isKnown, readIdentity, type WhatsAppIdentity } from './read-identity.ts'
import { cutStorable } from '../wire-values.ts'
import { UserMessage, UserPreference } from './wire.ts'

/** A user's reply: a tap on a button, a text, a completed flow, or the own number that a button asked for. */
export interface UserReply {
  phoneNumberId: string
  waMessageId: string
  from: WhatsAppIdentity
  /** Undefined if WhatsApp gave no readable time. */
  at: Date | undefined
  /** The wamid of the message that was replied to; undefined for a text that is not a reply, and if WhatsApp omits it. */
  repliesTo: string | undefined
  kind: 'button' | 'text' | 'flow' | 'contact'
  text?: string
  payload?: string
  /** True if `text` or `payload` was too long and is cut off. */
  truncated?: true
}

/** A user stopped or resumed marketing messages in WhatsApp. */
export interface UserPreferenceChange {
  phoneNumberId: string
  user: WhatsAppIdentity
  value: 'stop' | 'resume'
  /** Undefined if WhatsApp gave no readable time. */
  at: Date | undefined
}

/** WhatsApp's own limit for a text. */
const maxTextCharacters = 4096
const maxPayloadCharacters = 16_384
const maxIdCharacters = 512

/** Returns undefined for anything that cannot be a reply: media, reactions, locations, malformed messages. */
export function readReply(message: unknown, phoneNumberId: string, complete: CompleteIdentity): UserReply | undefined {
  const parsed = UserMessage.safeParse(message)
  if (!parsed.success) return undefined
  const { id, from, from_user_id, from_parent_user_id, timestamp: at, context } = parsed.data
  const shared = readSharedNumber(parsed.data)
  const content = readContent(parsed.data)
  const repliesTo = context?.id
  if (!content || id === '' || id.length > maxIdCharacters) return undefined
  if (repliesTo === undefined && content.kind === 'flow') return undefined
  if (repliesTo !== undefined && repliesTo.length > maxIdCharacters) return undefined
  return {
    phoneNumberId,
    waMessageId: id,
    from: complete(
      readIdentity({ wa_id: from ?? shared?.number, user_id: from_user_id, parent_user_id: from_parent_user_id }),
    ),
    at,
    repliesTo,
    ...bound(content),
  }
}

type Content = Pick<UserReply, 'kind'> & { text: string | undefined; payload: string | undefined }

/** The own number of a user who tapped REQUEST_CONTACT_INFO. Contacts shared by hand can be those of others. */
function readSharedNumber({ type, contacts }: UserMessage): { text: string; number: string | undefined } | undefined {
  const own = contacts?.find(({ origin }) => origin === 'contact_request')
  const shared = type === 'contacts' ? own?.phones?.find(({ phone, wa_id }) => phone ?? wa_id) : undefined
  if (!shared) return undefined
  const { phone = '', wa_id } = shared
  // A number that the user wrote has its country code only after a plus sign.
  const written = phone.trim().startsWith('+') ? phone.replaceAll(/\D/g, '') : undefined
  return { text: phone || (wa_id ?? ''), number: wa_id ?? written }
}

function readContent(message: UserMessage): Content | undefined {
  const { type, text, button, interactive } = message
  const shared = readSharedNumber(message)
  if (shared) return { kind: 'contact', text: shared.text, payload: undefined }
  const { button_reply: tapped, nfm_reply: flow } = interactive ?? {}
  if (type === 'text' && text) return { kind: 'text', text: text.body, payload: undefined }
  if (type === 'button' && button) return { kind: 'button', text: button.text, payload: button.payload }
  if (type !== 'interactive') return undefined
  if (tapped) return { kind: 'button', text: tapped.title, payload: tapped.id }
  return flow && { kind: 'flow', text: flow.body, payload: flow.response_json }
}

function bound({ kind, text, payload }: Content): Pick<UserReply, 'kind' | 'text' | 'payload' | 'truncated'> {
  const truncated = (text?.length ?? 0) > maxTextCharacters || (payload?.length ?? 0) > maxPayloadCharacters
  return {
    kind,
    ...(text !== undefined && { text: cutStorable(text, maxTextCharacters) }),
    ...(payload !== undefined && { payload: cutStorable(payload, maxPayloadCharacters) }),
    ...(truncated && { truncated }),
  }
}

/** Only marketing messages have a preference so far (reference 2, section 7). */
export function readPreference(
  preference: unknown,
  phoneNumberId: string,
  complete: CompleteIdentity,
): UserPreferenceChange | undefined {
  const parsed = UserPreference.safeParse(preference)
  if (!parsed.success) return undefined
  const { category, value, timestamp: at } = parsed.data
  const user = complete(readIdentity(parsed.data))
  if (category !== 'marketing_messages' || !isKnown(user)) return undefined
  return value === 'stop' || value === 'resume' ? { phoneNumberId, user, value, at } : undefined
}
