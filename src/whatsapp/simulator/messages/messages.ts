import { z } from 'zod'
import { dayMilliseconds } from '../../../../contracts/time.ts'
import { addContact } from '../contact-book.ts'
import { fail, failPlainParameter, failWith } from '../errors.ts'
import { ok, type SimulatedResponse } from '../exchange.ts'
import { invalidParameter } from '../invalid-parameter.ts'
import { checkMedia } from '../media.ts'
import type { AcceptedMessage, SimulatedNumber, SimulatorState } from '../state.ts'
import { checkEndpoint, isCarriedByMarketingApi, marketingOf, type SimulatedEndpoint } from './endpoint.ts'
import { createWamid } from './recipient-actions.ts'
import { behaviourOf, type SimpleBehaviour } from './recipients.ts'
import { invalidValue, requiredMissing, SendComponents } from './send-components.ts'
import { checkTemplate, templateMissing } from './template-check.ts'
import { isUserId, type SimulatedUser, userOfId, userOfNumber } from './users.ts'

const Message = z.object({
  messaging_product: z.literal('whatsapp'),
  recipient_type: z.literal('individual').optional(),
  to: z.string().optional(),
  recipient: z.string().optional(),
  type: z.string().default('text'),
  biz_opaque_callback_data: z.string().max(512).optional(),
  template: z.unknown().optional(),
  messaging_account_id: z.string().optional(),
  product_policy: z.enum(['CLOUD_API_FALLBACK', 'STRICT']).default('CLOUD_API_FALLBACK'),
})
type Message = z.infer<typeof Message>

const TemplateOfMessage = z.object({
  name: z.string().min(1),
  language: z.object({ code: z.string().min(1), policy: z.literal('deterministic').optional() }),
  components: SendComponents.default([]),
})

/**
 * `POST /<phone number id>/messages`: reference, section 1; autumn reference, section 2.1. `/marketing_messages`: section
 * 1.3.
 */
export function sendMessage(
  state: SimulatorState,
  from: SimulatedNumber,
  endpoint: SimulatedEndpoint,
  body: unknown,
): SimulatedResponse {
  const message = Message.safeParse(body)
  if (!message.success) return invalidParameter(message.error, body)
  const { to, recipient, type } = message.data
  if (to === undefined && recipient === undefined) return toMissing()
  const user = to === undefined ? userOfId(recipient ?? '') : readUser(to, from)
  if (to === undefined && !isUserId(user.userId)) return invalidValue('Recipient is not a valid user ID')
  if (to !== undefined && !/^[1-9]\d{6,14}$/.test(user.waId ?? ''))
    return invalidValue('Recipient phone number is not valid')
  if (user.waId === withoutPunctuation(from.displayPhoneNumber)) return sameNumber()
  if (type !== 'template')
    return endpoint === 'messages' ? outsideWindow(type) : failWith(100, 'Message must be a template message.')
  return sendTemplate(state, { from, endpoint }, user, message.data)
}

/** Graph names a missing parameter in the message, not in the details. */
function toMissing(): SimulatedResponse {
  return fail({ code: 100, status: 400, title: 'The parameter to is required.' })
}

/** WhatsApp accepts a user ID as `to`, reads a number from it, and sends nothing. */
function readUser(to: string, from: SimulatedNumber): SimulatedUser {
  if (!isUserId(to)) return userOfNumber(toDigits(to, from.callingCode), from.wabaId)
  return { waId: to.replaceAll(/\D/g, '').slice(0, 15), userId: to }
}

function sendTemplate(
  state: SimulatorState,
  { from, endpoint }: { from: SimulatedNumber; endpoint: SimulatedEndpoint },
  user: SimulatedUser,
  message: Message,
): SimulatedResponse {
  const waId = message.to === undefined ? user.userId : (user.waId ?? user.userId)
  const behaviour = isUserId(message.to ?? '') ? dropped : behaviourOf(waId, endpoint)
  if (behaviour.kind === 'fail') return failWith(behaviour.code)
  if (behaviour.kind === 'respond') return behaviour.response
  const checked = checkMessage(state, { from, endpoint }, message)
  if ('kind' in checked) return checked
  const { template, components, media } = checked

  if (message.to !== undefined) addContact(state, from, user.userId)
  const waMessageId = createWamid(waId, state.randomBytes(9))
  const messageStatus = behaviour.messageStatus ?? 'accepted'
  const isBeyondLimit = from.enforcesLimit === true && !address(state, from, user.userId)
  state.onAccepted({
    waMessageId,
    waId,
    user,
    from,
    template,
    messageStatus,
    isMarketingApi: isCarriedByMarketingApi(state, from, endpoint),
    ...(behaviour.freeBecause && { freeBecause: behaviour.freeBecause }),
    isStandby: behaviour.isStandby === true,
    plan: isBeyondLimit ? 'beyondLimit' : (media?.plan ?? behaviour.plan),
    actions: (isBeyondLimit ? undefined : behaviour.actions) ?? [],
    buttonValues: readButtonValues(components),
    ...(message.biz_opaque_callback_data === undefined ? {} : { callbackData: message.biz_opaque_callback_data }),
  })
  const response =
    behaviour.response ??
    ok({
      messaging_product: 'whatsapp',
      contacts: [message.to === undefined ? { input: waId, user_id: waId } : { input: message.to, wa_id: waId }],
      messages: [{ id: waMessageId, message_status: messageStatus }],
    })
  return behaviour.delayMs === undefined ? response : { kind: 'late', delayMs: behaviour.delayMs, response }
}

/** Returns the parts of a message that WhatsApp accepts, or its refusal. */
function checkMessage(
  state: SimulatorState,
  { from, endpoint }: { from: SimulatedNumber; endpoint: SimulatedEndpoint },
  message: Message,
) {
  if (message.template === undefined) return requiredMissing('Parameter template is missing')
  const parsed = TemplateOfMessage.safeParse(message.template)
  if (!parsed.success) return invalidParameter(parsed.error, message, ['template'])

  const { name, language, components } = parsed.data
  const template = state.templates
    .get(from.wabaId)
    ?.all()
    .find((one) => one.name === name && one.language === language.code)
  if (!template) return templateMissing(name, language.code)
  if (message.to === undefined && template.category === 'AUTHENTICATION') return failWith(131062)
  const payer = message.messaging_account_id
  if (payer !== undefined && payer !== from.wabaId) return failPlainParameter('messaging_account_id')
  const policy = message.product_policy
  const mismatch =
    checkEndpoint(marketingOf(state, from.wabaId), template, { endpoint, policy }) ??
    checkTemplate(template, components)
  if (mismatch) return mismatch
  const media = checkMedia(state, from, components)
  if (media && 'kind' in media) return media
  return { template, components, media }
}

const dropped: SimpleBehaviour = { kind: 'accept', plan: 'silent' }

/** Returns what a tap on each button sends back, by the index of the button. */
function readButtonValues(components: SendComponents): AcceptedMessage['buttonValues'] {
  return new Map(
    components.flatMap((component) => {
      if (component.type !== 'button') return []
      const { payload, action } = component.parameters[0] ?? {}
      return [[component.index, { payload, flowToken: action?.flow_token }] as const]
    }),
  )
}

/**
 * Ignores punctuation between digits. Without a plus sign, the sender's calling code is prepended (reference, section
 * 1), unless the number already starts with it, as bare numbers in Meta's examples do.
 */
function toDigits(to: string, callingCode: string): string {
  const digits = withoutPunctuation(to)
  return to.trim().startsWith('+') || digits.startsWith(callingCode) ? digits : callingCode + digits
}

/** Keeps letters, so that a number with letters is not valid. */
function withoutPunctuation(text: string): string {
  return text.replace(/[+\s\-()]/g, '')
}

function sameNumber(): SimulatedResponse {
  return fail({
    status: 400,
    code: 131021,
    title: 'Recipient cannot be sender',
    details: 'Recipient and sender phone number is the same.',
  })
}

/** Simulated numbers never receive messages, so no customer service window is open for free-form messages. */
function outsideWindow(type: string): SimulatedResponse {
  if (!freeFormTypes.has(type)) {
    return fail({ status: 400, code: 131051, title: 'Unsupported message type', details: `Unsupported type ${type}` })
  }
  return fail({
    status: 400,
    code: 131047,
    title: 'Re-engagement message',
    details: 'More than 24 hours have passed since the recipient last replied to the sender number.',
  })
}

const freeFormTypes = new Set([
  'text',
  'image',
  'video',
  'audio',
  'document',
  'sticker',
  'location',
  'contacts',
  'interactive',
])

/**
 * Counts a person as addressed, and returns whether the messaging limit leaves room for the person (autumn reference,
 * section 3.2). No customer service window of a simulated number is ever open.
 */
function address(state: SimulatorState, { wabaId, messagingLimit }: SimulatedNumber, userId: string): boolean {
  const now = state.now()
  const recent = [...(state.addressed.get(wabaId) ?? [])].filter(([, at]) => now - at < dayMilliseconds)
  const addressed = new Map(recent)
  state.addressed.set(wabaId, addressed)
  if (!addressed.has(userId) && addressed.size >= readLimit(messagingLimit)) return false
  addressed.set(userId, now)
  return true
}

function readLimit(messagingLimit: string): number {
  const [, digits, thousand] = /^TIER_(\d+)(K?)$/.exec(messagingLimit) ?? []
  return digits === undefined ? Infinity : Number(digits) * (thousand === 'K' ? 1000 : 1)
}
