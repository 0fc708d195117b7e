import { isDeepStrictEqual } from 'node:util'
import type { getMessageContent as contract, MessageContent } from '../../../contracts/dashboard/message.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { fitValues } from '../../templates/fill/values.ts'
import type { StoredMessage } from '../columns.ts'
import { requireMessage } from '../queries/get.ts'
import { findSendFacts } from '../send/facts-store.ts'
import { describeContent, openContent } from './content.ts'
import { findContent, findFirstShown } from './store.ts'

/** Returns the content of a message, or why it is not available. */
export async function getMessageContent(
  deps: Pick<Deps, 'db' | 'secrets' | 'now'>,
  id: InputOf<typeof contract>,
): Promise<OutputOf<typeof contract>> {
  const { accountId, messageId } = id
  const message = await requireMessage(deps, accountId, messageId)
  const firstShown = await findFirstShown(deps.db, accountId, deps.now())
  if (firstShown === undefined) return { state: 'off' }
  const ciphertext = messageId < firstShown ? undefined : await findContent(deps.db, id)
  if (ciphertext === undefined) return { state: 'not_stored' }
  const content = openContent(deps.secrets, id, ciphertext)
  if (!content) return { state: 'unreadable' }
  return { state: 'stored', content, templateChanged: await hasTemplateChanged(deps, message, content) }
}

/**
 * Returns whether the same values would render a different text today. False for a deleted template, which the
 * dashboard shows.
 */
async function hasTemplateChanged(
  { db }: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId, to, template: name, language }: StoredMessage,
  content: MessageContent,
): Promise<boolean> {
  const { template } = await findSendFacts(db, { accountId, whatsAppAccountId, template: name, language })
  if (!template) return false
  const { filled, problems } = fitValues(template, content.values)
  if (problems.length > 0) return true
  const request = { ...content.values, to, template: name, language }
  const today = describeContent(template, filled, request)
  // Compared as it is stored, without fields that are undefined.
  return !isDeepStrictEqual(JSON.parse(JSON.stringify(today.shown)), content.shown)
}
