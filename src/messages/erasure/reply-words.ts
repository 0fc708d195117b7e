import type { MessageEvent } from '../../../contracts/events.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'

/** A PostgreSQL regular expression that matches the payloads whose erased person still has words in them. */
export const replyWordsPattern = String.raw`"message[.]replied".*"${erasedRecipient}".*"(text|payload)":`

/**
 * Removes what an erased person answered, and further names of the person, from the payload of an event in which their
 * names are already erased. Returns the payload of any other event as it is, such as an answer of another person that
 * mentions them.
 */
export function eraseReplyWords(payload: string): string {
  if (!payload.includes('"message.replied"')) return payload
  // Payloads are written by `recordEvents`.
  const event = JSON.parse(payload) as MessageEvent
  if (event.type !== 'message.replied') return payload
  const { to, reply } = event.data
  const { text, payload: answers, truncated, from, userId, ...rest } = reply
  const hasWords = text !== undefined || answers !== undefined || truncated === true
  const names = [from, userId].filter((name) => name !== undefined)
  if (![to, ...names].includes(erasedRecipient)) return payload
  if (!hasWords && names.every((name) => name === erasedRecipient)) return payload
  const erasedNames = {
    ...(from !== undefined && { from: erasedRecipient }),
    ...(userId !== undefined && { userId: erasedRecipient }),
  }
  return JSON.stringify({ ...event, data: { ...event.data, reply: { ...rest, ...erasedNames } } })
}
