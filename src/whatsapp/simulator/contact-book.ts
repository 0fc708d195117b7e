import { userIdPattern } from '../../../contracts/fields.ts'
import { fail } from './errors.ts'
import { ok, type RoutedRequest, type SimulatedResponse } from './exchange.ts'
import type { SimulatedNumber, SimulatorState } from './state.ts'

/** Adds a user whose number the business has used. */
export function addContact(state: SimulatorState, { wabaId }: SimulatedNumber, userId: string): void {
  const book = state.contacts.get(wabaId)
  if (book) book.add(userId)
  else state.contacts.set(wabaId, new Set([userId]))
}

/** `DELETE /<phone number id>/contact_book`: autumn reference, section 2.6. */
export function deleteContact(
  state: SimulatorState,
  { wabaId }: SimulatedNumber,
  { query }: RoutedRequest,
): SimulatedResponse {
  const userId = query.get('bsuid') ?? ''
  const isOwnId = userIdPattern.test(userId) && !userId.includes('.ENT.')
  if (query.get('messaging_product') !== 'whatsapp' || !isOwnId)
    return fail({ code: 100, status: 400, title: 'Invalid parameter' })
  const deleted = state.contacts.get(wabaId)?.delete(userId) ?? false
  return ok({ messaging_product: 'whatsapp', success: true, deleted })
}
