import { changes } from '../../../contracts/facts/changes.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import { discardUnwrittenRequests } from '../../accounts/requests/store.ts'
import type { Deps } from '../../deps.ts'
import { awaitRunningWrites, retryLocked } from '../../platform/db/locks.ts'
import { openAccessToken } from '../../whatsapp-accounts/secrets.ts'
import { findWhatsAppAccounts, type WhatsAppAccountRow } from '../../whatsapp-accounts/store.ts'
import { eraseFromContents } from '../contents/contents.ts'
import { isParentId, isUserId, type StoredIdentity } from '../recipients/plan-identities.ts'
import { findIdentities, findKeysOf } from '../recipients/store.ts'
import { eraseNames, findAccountsWithNames } from '../suppressions/erased-store.ts'
import { readHashKey, spellingsOf, storedKeysOf } from '../suppressions/number-key.ts'
import { matchNames } from './number.ts'
import { endClaimsOfErased, eraseOrphanedResponses, eraseSomeMessages, findAccountsWithMessagesTo } from './store.ts'
import { type ErasedRows, sweep, type SweepProgress } from './sweep.ts'

export interface Erasure {
  /** A number in any of its spellings, digits only; or a user ID. */
  recipient: string
  /** All accounts if absent. */
  accountId?: string | undefined
}

export interface Erased {
  /** Accounts that had stored the person. */
  accountIds: string[]
  /** Messages to the person. They are kept without a recipient. */
  messages: number
  /** Other rows about the person, by table. */
  rows: ErasedRows
  /** Replies of the person whose words were removed from their events. */
  replies: number
  contactBook: ContactBookResult
  /** Whether the last search found no trace of the person. */
  complete: boolean
  /** Whether it found none, but a transaction that was open for long could still have stored one. */
  unsettled?: true
}

export interface ErasureHooks {
  report?: (progress: SweepProgress) => void
  /** Runs the change of one account, and records it in the audit log. */
  audited: <Result>(accountId: string, what: Fact, run: () => Promise<Result>) => Promise<Result>
  /** How long to wait for open transactions. */
  maxSettleMilliseconds?: number
}

const messageBatchSize = 200
/** While the person's names keep being written, each search can find them again. */
const maxSearches = 5

/**
 * Removes a person's number and user IDs from everything that is stored. Messages are kept without a recipient, so that
 * counts do not change, and suppressions are kept with hashes in place of the names. Each step is a short transaction, and a
 * repeated erasure continues where an interrupted one stopped. Whatever is recorded during the erasure is erased too; a
 * message that is requested afterwards is kept.
 */
export async function eraseRecipient(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log' | 'whatsapp'>,
  { recipient, accountId }: Erasure,
  { report, audited, maxSettleMilliseconds }: ErasureHooks,
): Promise<Erased> {
  const { db } = deps
  const hashKey = await readHashKey(deps)
  const names = new Set(storedKeysOf(recipient))
  await findNames()
  const rows: ErasedRows = {}
  const recorded = new Set<string>()
  const contacts = createContactBook(deps)
  let messages = 0
  let replies = 0

  /** A recipient can reply under another name than the one that messages were sent to. */
  async function findNames(): Promise<string[]> {
    const accountIds = await findAccountsWithNames(db, [...names], accountId)
    for (const id of accountIds)
      for (const name of names) for (const key of await findKeysOf(db, id, name)) names.add(key)
    return accountIds
  }

  async function eraseMessages(): Promise<number> {
    const found = await findAccountsWithMessagesTo(db, listSpellings())
    let erased = 0
    for (const id of found.filter((one) => accountId === undefined || one === accountId))
      erased += await inAuditOf(id, () => eraseMessagesOf(id))
    messages += erased
    return erased
  }

  function listSpellings(): string[] {
    return [...new Set([...names].flatMap(spellingsOf))]
  }

  async function eraseMessagesOf(id: string): Promise<number> {
    const target = { accountId: id, recipients: listSpellings(), matcher: matchNames(listSpellings()) }
    let erased = 0
    for (;;) {
      const batch = await retryLocked(() => eraseSomeMessages(db, target, messageBatchSize))
      add('message_contents', batch.contents)
      add('events', batch.events)
      replies += batch.replies
      erased += batch.messages
      if (batch.messages < messageBatchSize) return erased
    }
  }

  /** Records one entry per account, even if several steps change it. */
  function inAuditOf<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
    if (recorded.has(id)) return run()
    recorded.add(id)
    return audited(id, changes.eraseRecipient(), run)
  }

  function add(table: string, count: number): void {
    if (count > 0) rows[table] = (rows[table] ?? 0) + count
  }

  /** An earlier erasure may have left an entry at Meta of a user ID that is no longer stored. */
  async function finish(outcome: Pick<Erased, 'complete' | 'unsettled'>): Promise<Erased> {
    if (accountId !== undefined) await contacts.deleteGiven(accountId, recipient)
    return { accountIds: [...recorded].sort(), messages, rows, replies, contactBook: contacts.result, ...outcome }
  }

  /** Erases what is there now, and returns how much that was and whether every write of before has ended. */
  async function searchOnce(): Promise<{ found: number; settled: boolean }> {
    // A reply to an erased message may still be recorded, by a transaction that found the message before.
    await awaitRunningWrites(db, maxSettleMilliseconds)
    const named = await findNames()
    for (const id of named) {
      // First, because the user IDs are not known afterwards.
      const references = [...names].map((identity) => ({ accountId: id, identity }))
      await contacts.deleteReported(id, await findIdentities(db, references))
      const erased = await retryLocked(() => eraseNames(db, hashKey, { accountId: id, names: [...names] }))
      add('suppressions', erased.suppressions)
      add('recipient_identities', erased.identities)
    }
    const matcher = matchNames(listSpellings())
    const swept = await sweep(db, { matcher, accountId }, report)
    for (const [table, count] of Object.entries(swept.erased)) add(table, count)
    replies += swept.replies
    add('webhook_attempts', await eraseOrphanedResponses(db, accountId))
    const inContents = await eraseFromContents(deps, { matcher, accountId })
    add('message_contents', inContents.erased)
    for (const id of [...named, ...swept.accountIds, ...inContents.accountIds])
      await inAuditOf(id, () => Promise.resolve())
    const settled = await awaitRunningWrites(db, maxSettleMilliseconds)
    const late = await eraseMessages()
    for (const id of recorded) await retryLocked(() => endClaimsOfErased(db, id))
    return { found: named.length + swept.accountIds.size + inContents.erased + late, settled }
  }

  if (accountId !== undefined) await inAuditOf(accountId, () => Promise.resolve())
  await discardUnwrittenRequests(db)
  await eraseMessages()
  let unsettled = false
  for (let search = 1; search <= maxSearches; search += 1) {
    const { found, settled } = await searchOnce()
    if (found === 0 && settled) return finish({ complete: true })
    unsettled = found === 0
  }
  return finish({ complete: false, ...(unsettled && { unsettled }) })
}

/** Entries of a person in the contact books that Meta keeps for business portfolios. */
interface ContactBookResult {
  deleted: number
  /** Entries that may remain, because WhatsApp did not answer or rejected every access token. */
  failed: { accountId: string; userId: string }[]
}

interface ContactBook {
  result: ContactBookResult
  /** Deletes the entries of names in the portfolios where WhatsApp reported them. Other names have none. */
  deleteReported(accountId: string, identities: readonly StoredIdentity[]): Promise<void>
  /** Deletes the entry of a user ID that may no longer be stored, in any portfolio of the account. */
  deleteGiven(accountId: string, identity: string): Promise<void>
}

/**
 * Deletes a person's entries. With an entry, Meta adds the number of someone who hides it to callbacks. Parent user IDs have
 * none. Once WhatsApp leaves a request unanswered, no further one is made, because each can take half a minute.
 */
function createContactBook(deps: Pick<Deps, 'db' | 'secrets' | 'log' | 'whatsapp'>): ContactBook {
  const result: ContactBookResult = { deleted: 0, failed: [] }
  const asked = new Set<string>()
  let isUnanswered = false

  async function deleteOne(accountId: string, userId: string, numbers: readonly WhatsAppAccountRow[]): Promise<void> {
    const key = `${accountId} ${userId}`
    if (asked.has(key)) return
    asked.add(key)
    const isDeleted = await ask(userId, numbers)
    if (isDeleted === undefined) result.failed.push({ accountId, userId })
    else if (isDeleted) result.deleted += 1
  }

  /** Asks by one number after the other, because a token can have expired. Undefined if no answer says what is there. */
  async function ask(userId: string, numbers: readonly WhatsAppAccountRow[]): Promise<boolean | undefined> {
    const answered = new Set<string>()
    for (const number of numbers) {
      if (isUnanswered || answered.has(number.wabaId)) continue
      const ref = { accountId: number.accountId, whatsAppAccountId: number.id }
      const accessToken = openAccessToken(deps, ref, number.accessTokenEncrypted)
      if (accessToken === undefined) continue
      const outcome = await deps.whatsapp.deleteContact({ phoneNumberId: number.phoneNumberId, accessToken }, userId)
      if (!outcome.ok) isUnanswered = !outcome.refused
      else if (outcome.value) return true
      else answered.add(number.wabaId)
    }
    return answered.size > 0 ? false : undefined
  }

  return {
    result,
    deleteReported: async (accountId, identities) => {
      const reported = identities.filter(({ wabaId }) => wabaId !== null)
      if (reported.length === 0) return
      const numbers = await findWhatsAppAccounts(deps.db, accountId)
      for (const { identity, wabaId } of reported)
        await deleteOne(
          accountId,
          identity,
          numbers.filter((number) => number.wabaId === wabaId),
        )
    },
    deleteGiven: async (accountId, identity) => {
      if (!isUserId(identity) || isParentId(identity)) return
      const numbers = await findWhatsAppAccounts(deps.db, accountId)
      if (numbers.length > 0) await deleteOne(accountId, identity, numbers)
    },
  }
}
