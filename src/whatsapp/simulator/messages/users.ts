import { createHash } from 'node:crypto'
import { userIdPattern } from '../../../../contracts/fields.ts'
import { countryOf } from '../../../platform/countries.ts'

/** A user of WhatsApp, as a business knows them. */
export interface SimulatedUser {
  /** Undefined if the user hides the number. */
  waId?: string
  userId: string
  username?: string
}

/** Has a username, which statuses show. */
export const userWithName = { waId: '15558000011', username: 'ada.lovelace' } as const

/** Of the simulated users, one for each number. Every business account is a portfolio of its own. */
export function userOfNumber(digits: string, wabaId: string): SimulatedUser {
  const waId = spellLikeWhatsApp(digits)
  const hash = createHash('sha256').update(`${wabaId} ${waId}`).digest()
  const userId = `${countryOf(waId) ?? 'US'}.${hash.readBigUInt64BE() % 10n ** 16n}`
  return { waId, userId, ...(waId === userWithName.waId && { username: userWithName.username }) }
}

/** Whose number WhatsApp shows to the business although it was sent to the user ID. */
export const shownUser = { userId: 'ES.2041776300000002', waId: '34600000002' } as const

export function userOfId(userId: string): SimulatedUser {
  return userId === shownUser.userId ? shownUser : { userId }
}

export function isUserId(text: string): boolean {
  return userIdPattern.test(text)
}

/**
 * Returns the number as WhatsApp writes it, which in some countries differs from what was sent (autumn reference,
 * section 4.2): with 1 in Mexico and 9 in Argentina, without the 9 of mobile numbers outside Rio and São Paulo in
 * Brazil, and with the prefixes that Benin and Ivory Coast added to numbers of eight digits.
 */
export function spellLikeWhatsApp(digits: string): string {
  for (const [pattern, replacement] of rules) if (pattern.test(digits)) return digits.replace(pattern, replacement)
  return digits
}

const rules: readonly (readonly [RegExp, string])[] = [
  [/^52(?=\d{10}$)/, '521'],
  [/^54(?=\d{10}$)/, '549'],
  // Area codes above 30; landlines have eight digits that start with 2 to 5.
  [/^(55[3-9][1-9])9(?=[6-9]\d{7}$)/, '$1'],
  [/^229(?=\d{8}$)/, '22901'],
  // The operator of a mobile number follows from its second digit.
  [/^225(?=\d[0-3]\d{6}$)/, '22501'],
  [/^225(?=\d[4-6]\d{6}$)/, '22505'],
  [/^225(?=\d[7-9]\d{6}$)/, '22507'],
]
