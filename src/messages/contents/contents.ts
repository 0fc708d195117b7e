import { isDeepStrictEqual } from 'node:util'
import type { getMessageContent as contract, MessageContent } from '../../../contracts/dashboard/message.ts'
import type { InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { awaitRunningWrites, retryLocked } from '../../platform/db/locks.ts'
import { fillTemplate } from '../../templates/fill/values.ts'
import type { StoredMessage } from '../message.ts'
import type { NumberMatcher } from '../erasure/number.ts'
import { requireMessage } from '../queries/read.ts'
import { findSendFacts } from '../send/facts-store.ts'
import { decryptContent, describeContent, openContent, renewContent } from './content.ts'
import {
  deleteContents,
  deleteOldContents,
  findContent,
  findFirstShown,
  readContents,
  replaceContents,
} from './store.ts'

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
  const { filled, problems } = fillTemplate(template, content.values)
  if (problems.length > 0) return true
  const request = { ...content.values, to, template: name, language }
  const today = describeContent(template, filled, request)
  // Compared as it is stored, without fields that are undefined.
  return !isDeepStrictEqual(JSON.parse(JSON.stringify(today.shown)), content.shown)
}

/**
 * Deletes the contents of an account that has stopped storing them. Waits for running inserts first, because they can
 * still add contents. If this is interrupted, housekeeping deletes the rest.
 */
export async function dropContents({ db, now }: Pick<Deps, 'db' | 'now'>, accountId: string): Promise<void> {
  await awaitRunningWrites(db)
  await deleteOldContents(db, now(), accountId)
}

/**
 * Deletes the contents that mention a number, such as a message that tells another recipient the number of their
 * driver. Reads all accounts unless one is given. Contents that no key decrypts cannot be searched; they expire.
 */
export async function eraseFromContents(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { matcher, accountId }: { matcher: NumberMatcher; accountId: string | undefined },
): Promise<{ erased: number; accountIds: string[] }> {
  const accountIds = new Set<string>()
  let erased = 0
  for await (const rows of readContents(db, { accountId })) {
    const found = rows.filter((row) => {
      const text = decryptContent(secrets, row, row.ciphertext)
      return text !== undefined && matcher.erase(text) !== text
    })
    for (const [id, ofAccount] of Map.groupBy(found, (row) => row.accountId)) {
      erased += await retryLocked(() =>
        deleteContents(
          db,
          id,
          ofAccount.map(({ messageId }) => messageId),
        ),
      )
      accountIds.add(id)
    }
  }
  return { erased, accountIds: [...accountIds] }
}

export interface RekeyedContents {
  stored: number
  rekeyed: number
  /** Contents that no key of this server decrypts. They expire like others. */
  unreadable: number
}

/**
 * Encrypts the contents of messages with the current key. There can be millions, so they are read in pages. Reads all
 * accounts, because they share the keys.
 */
export async function rekeyContents({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): Promise<RekeyedContents> {
  const result: RekeyedContents = { stored: 0, rekeyed: 0, unreadable: 0 }
  for await (const rows of readContents(db)) {
    const old = rows.filter(({ ciphertext }) => !secrets.isCurrent(ciphertext))
    const changes = old.flatMap((row) => {
      const renewed = renewContent(secrets, row, row.ciphertext)
      return renewed === undefined ? [] : [{ ...row, renewed }]
    })
    result.stored += rows.length
    result.rekeyed += await replaceContents(db, changes)
    result.unreadable += old.length - changes.length
  }
  return result
}
