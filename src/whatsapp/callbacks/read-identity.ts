import { userIdPattern } from '../../../contracts/fields.ts'
import { Contact, SystemMessage } from './wire.ts'

/** How WhatsApp names a user: by number, by user ID, or both. */
export interface WhatsAppIdentity {
  /** Digits, as WhatsApp writes them; undefined if the user hides the number. */
  waId: string | undefined
  /** Business-scoped user ID: the same user has another one in another business portfolio. */
  userId: string | undefined
  /** The user ID that several portfolios of one organisation share. */
  parentUserId: string | undefined
}

/** A user has a new number, a new user ID, or both. */
export interface IdentityChange {
  phoneNumberId: string
  previous: WhatsAppIdentity
  current: WhatsAppIdentity
  /** Undefined if WhatsApp gave no readable time. */
  at: Date | undefined
}

/** As WhatsApp writes it: texts, or numbers in some payloads. */
interface WireIdentity {
  wa_id?: unknown
  user_id?: unknown
  parent_user_id?: unknown
}

/** WhatsApp writes numbers without a plus sign, but shows them with one. */
const numberPattern = /^\+?[1-9]\d{6,14}$/

/** Leaves out whatever has not the form of a number or of a user ID. */
export function readIdentity({ wa_id, user_id, parent_user_id }: WireIdentity): WhatsAppIdentity {
  return {
    waId: matching(wa_id, numberPattern)?.replace('+', ''),
    userId: matching(user_id, userIdPattern),
    parentUserId: matching(parent_user_id, userIdPattern),
  }
}

function matching(value: unknown, pattern: RegExp): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && pattern.test(text) ? text : undefined
}

export function isKnown({ waId, userId, parentUserId }: WhatsAppIdentity): boolean {
  return waId !== undefined || userId !== undefined || parentUserId !== undefined
}

/** Adds what `contacts` of the same callback say about a user. */
export type CompleteIdentity = (identity: WhatsAppIdentity) => WhatsAppIdentity

/** WhatsApp lists at most one contact for each of the thousand items of a callback. */
const maxContacts = 1000

export function indexContacts(contacts: readonly unknown[] = []): CompleteIdentity {
  const index = new Map<string, WhatsAppIdentity>()
  for (const item of contacts.slice(0, maxContacts)) {
    const contact = Contact.safeParse(item)
    if (!contact.success) continue
    const identity = readIdentity(contact.data)
    for (const key of [identity.waId, identity.userId]) if (key !== undefined) index.set(key, identity)
  }
  return (identity) => {
    const contact = index.get(identity.userId ?? '') ?? index.get(identity.waId ?? '')
    if (!contact) return identity
    return {
      waId: identity.waId ?? contact.waId,
      userId: identity.userId ?? contact.userId,
      parentUserId: identity.parentUserId ?? contact.parentUserId,
    }
  }
}

/** Before August 2026, only the text named the previous user ID. */
const previousInBody = / changed from ([A-Z]{2}\.\w+(?:\.\w+)?) to /

const identityChanges = new Set(['user_changed_number', 'customer_changed_number', 'user_changed_user_id'])

/** Returns undefined for other system messages, and for changes without both sides. */
export function readIdentityChange(message: unknown, phoneNumberId: string): IdentityChange | undefined {
  const parsed = SystemMessage.safeParse(message)
  if (!parsed.success) return undefined
  const { from, timestamp: at, system } = parsed.data
  if (!identityChanges.has(system.type)) return undefined
  const previous = readIdentity({
    wa_id: from ?? system.customer,
    user_id: system.previous_user_id ?? previousInBody.exec(system.body ?? '')?.[1],
    parent_user_id: system.previous_parent_user_id,
  })
  const current = readIdentity({ ...system, wa_id: system.wa_id ?? system.new_wa_id })
  return isKnown(previous) && isKnown(current) ? { phoneNumberId, previous, current, at } : undefined
}
