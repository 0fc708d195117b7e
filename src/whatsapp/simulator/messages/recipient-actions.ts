import { failures } from '../errors.ts'
import type { AcceptedMessage } from '../state.ts'
import type { PlannedAction } from './plans.ts'
import type { SimulatedUser } from './users.ts'

/** An item of a callback: the list that it belongs to, and the field of the callback. */
export interface CallbackItem {
  field: 'messages' | 'user_preferences' | 'standby' | 'history'
  list: 'statuses' | 'messages' | 'user_preferences' | 'user_actions' | 'history' | 'errors'
  value: object
}

/** What a recipient does; reports are WhatsApp's. */
export type RecipientAction = Exclude<PlannedAction['action'], { kind: 'report' }>

/** Returns undefined if the message has no button or flow for the action. */
export function writeAction(
  message: AcceptedMessage,
  action: RecipientAction,
  randomBytes: (size: number) => Uint8Array,
): CallbackItem | undefined {
  if (action.kind === 'preference') return writePreference(message, action.value)
  if (action.kind === 'change') return writeChange(message, action, randomBytes)
  if (action.kind === 'click') return writeClick()
  if (action.kind === 'history') return writeHistory(message, randomBytes)
  if (action.kind === 'error') return writeError(action.code)
  const content = writeContent(message, action)
  if (!content) return undefined
  const isReply = action.kind !== 'text' || action.isReply !== false
  return {
    field: 'messages',
    list: 'messages',
    value: {
      ...(isReply && { context: { from: digitsOf(message.from.displayPhoneNumber), id: message.waMessageId } }),
      ...fromOf(message.user),
      id: createWamid(message.waId, randomBytes(9)),
      timestamp: String(nowInSeconds()),
      ...content,
    },
  }
}

type Content = Exclude<RecipientAction, { kind: 'preference' | 'change' | 'click' | 'history' | 'error' }>

function writeContent(message: AcceptedMessage, action: Content): object | undefined {
  switch (action.kind) {
    case 'text':
      return { type: 'text', text: { body: action.body } }
    case 'tap': {
      const button = listButtons(message, 'QUICK_REPLY').at(action.button === 'first' ? 0 : -1)
      // Without a payload in the send, WhatsApp returns the label.
      return button && { type: 'button', button: { text: button.text, payload: button.payload ?? button.text } }
    }
    case 'share': {
      if (listButtons(message, 'REQUEST_CONTACT_INFO').length === 0) return undefined
      const phones = [{ phone: `+${action.number}`, wa_id: action.number, type: 'CELL' }]
      return { type: 'contacts', contacts: [{ origin: 'contact_request', phones }] }
    }
    case 'flow': {
      const [button] = listButtons(message, 'FLOW')
      if (!button) return undefined
      const response = JSON.stringify({ flow_token: button.flowToken ?? 'unused', answer: 'Yes' })
      const reply = { name: 'flow', body: 'Sent', response_json: response }
      return { type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: reply } }
    }
  }
}

function listButtons({ template, buttonValues }: AcceptedMessage, type: string) {
  const buttons = template.components.flatMap((component) => component.buttons ?? [])
  return buttons.flatMap((button, index) =>
    button.type === type ? [{ text: button.text ?? '', ...buttonValues.get(index) }] : [],
  )
}

function fromOf({ waId, userId }: SimulatedUser): object {
  return { ...(waId !== undefined && { from: waId }), from_user_id: userId }
}

/** Autumn reference, section 2.4. */
function writeChange(
  { waId, user }: AcceptedMessage,
  { number }: Extract<PlannedAction['action'], { kind: 'change' }>,
  randomBytes: (size: number) => Uint8Array,
): CallbackItem {
  const userId = `${user.userId}9`
  const system =
    number === undefined
      ? { type: 'user_changed_user_id', body: `User Ada changed from ${user.userId} to ${userId}` }
      : { type: 'user_changed_number', body: `User Ada changed from ${waId} to ${number}`, wa_id: number }
  return {
    field: 'messages',
    list: 'messages',
    value: {
      ...(number !== undefined && { from: waId }),
      id: createWamid(waId, randomBytes(9)),
      timestamp: String(nowInSeconds()),
      type: 'system',
      system: { ...system, user_id: userId, previous_user_id: user.userId },
    },
  }
}

/** Names neither person nor message (autumn reference, section 1.6). */
function writeClick(): CallbackItem {
  const click = { click_component: 'cta', product_id: '', click_id: '1', tracking_token: 'token' }
  return {
    field: 'messages',
    list: 'user_actions',
    value: {
      action_type: 'marketing_messages_link_click',
      timestamp: String(nowInSeconds()),
      marketing_messages_link_click_data: click,
    },
  }
}

/** A part of the chats that a number had in the app before it was connected. */
function writeHistory({ waId, from }: AcceptedMessage, randomBytes: (size: number) => Uint8Array): CallbackItem {
  const old = {
    from: digitsOf(from.displayPhoneNumber),
    to: waId,
    id: createWamid(waId, randomBytes(9)),
    timestamp: String(nowInSeconds() - 86_400),
    type: 'text',
    text: { body: 'From the app' },
    history_context: { status: 'READ' },
  }
  return {
    field: 'history',
    list: 'history',
    value: { metadata: { phase: 0, chunk_order: 1, progress: 100 }, threads: [{ id: waId, messages: [old] }] },
  }
}

function writeError(code: Extract<RecipientAction, { kind: 'error' }>['code']): CallbackItem {
  const { title } = failures[code]
  return { field: 'messages', list: 'errors', value: { code, title, message: title, error_data: { details: title } } }
}

function writePreference({ user }: AcceptedMessage, value: 'stop' | 'resume'): CallbackItem {
  return {
    field: 'user_preferences',
    list: 'user_preferences',
    value: {
      ...(user.waId !== undefined && { wa_id: user.waId }),
      user_id: user.userId,
      detail: `User requested to ${value} marketing messages`,
      category: 'marketing_messages',
      value,
      timestamp: nowInSeconds(),
    },
  }
}

export function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '')
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/**
 * Has the structure of Meta's IDs: base64 of marker bytes, the recipient's digits in plain text, and 18 hexadecimal
 * digits (decoded from the examples in Meta's documentation; reference, section 1).
 */
export function createWamid(digits: string, random: Uint8Array): string {
  const unique = Buffer.from(random).toString('hex').toUpperCase().slice(0, 18)
  const bytes = Buffer.concat([
    Buffer.from([0x1c, 0x18, digits.length]),
    Buffer.from(digits, 'ascii'),
    Buffer.from([0x15, 0x02, 0x00, 0x11, 0x18, unique.length]),
    Buffer.from(unique, 'ascii'),
    Buffer.from([0x00]),
  ])
  return `wamid.${bytes.toString('base64')}`
}
