import { createHash } from 'node:crypto'
import { userIdPattern } from '../../../../contracts/fields.ts'
import { countryOf } from '../../../platform/countries.ts'
import { spellLikeWhatsApp } from './spelling.ts'

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
