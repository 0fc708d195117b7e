import type { Deps } from '../../deps.ts'
import { openAccessToken } from '../../whatsapp-accounts/secrets.ts'
import { findWhatsAppAccounts, type WhatsAppAccountRow } from '../../whatsapp-accounts/store.ts'
import { isParentId, isUserId, type StoredIdentity } from '../recipients/plan.ts'

/** Entries of a person in the contact books that Meta keeps for business portfolios. */
export interface ContactBookResult {
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
export function createContactBook(deps: Pick<Deps, 'db' | 'secrets' | 'log' | 'whatsapp'>): ContactBook {
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
      if (isUnanswered || answered.has(number.waba_id)) continue
      const ref = { accountId: number.account_id, whatsAppAccountId: number.id }
      const accessToken = openAccessToken(deps, ref, number.access_token_encrypted)
      if (accessToken === undefined) continue
      const outcome = await deps.whatsapp.deleteContact({ phoneNumberId: number.phone_number_id, accessToken }, userId)
      if (!outcome.ok) isUnanswered = !outcome.refused
      else if (outcome.value) return true
      else answered.add(number.waba_id)
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
          numbers.filter(({ waba_id }) => waba_id === wabaId),
        )
    },
    deleteGiven: async (accountId, identity) => {
      if (!isUserId(identity) || isParentId(identity)) return
      const numbers = await findWhatsAppAccounts(deps.db, accountId)
      if (numbers.length > 0) await deleteOne(accountId, identity, numbers)
    },
  }
}
