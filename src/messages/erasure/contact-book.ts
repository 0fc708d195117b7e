import type { Deps } from '../../deps.ts'
import { openAccessToken } from '../../whatsapp-accounts/secrets.ts'
import { findWhatsAppAccounts, type WhatsAppAccountRow } from '../../whatsapp-accounts/store.ts'
import type { StoredIdentity } from '../recipients/plan.ts'

/** Entries of a person in the contact books that Meta keeps for business portfolios. */
export interface ContactBookResult {
  deleted: number
  /** User IDs whose portfolio could not be asked. */
  failed: number
}

type Contact = Pick<StoredIdentity, 'identity' | 'wabaId'>

/**
 * Deletes a person's entries, of one account. With an entry, Meta adds the number of someone who hides it to callbacks.
 * Parent user IDs have none. A portfolio that was already asked about an ID is asked again if the erasure is repeated.
 */
export async function deleteContacts(
  deps: Pick<Deps, 'db' | 'secrets' | 'log' | 'whatsapp'>,
  accountId: string,
  contacts: readonly Contact[],
): Promise<ContactBookResult> {
  const known = contacts.filter(({ wabaId }) => wabaId !== null)
  const result = { deleted: 0, failed: 0 }
  if (known.length === 0) return result
  const numbers = await findWhatsAppAccounts(deps.db, accountId)
  for (const contact of known) {
    const isDeleted = await deleteContact(deps, numbers, contact)
    if (isDeleted === undefined) result.failed += 1
    else if (isDeleted) result.deleted += 1
  }
  return result
}

/** Asks by one number after the other, because a token can have expired. Undefined if no answer says what is there. */
async function deleteContact(
  deps: Pick<Deps, 'secrets' | 'log' | 'whatsapp'>,
  numbers: readonly WhatsAppAccountRow[],
  { identity: userId, wabaId }: Contact,
): Promise<boolean | undefined> {
  for (const number of numbers.filter(({ waba_id }) => waba_id === wabaId)) {
    const ref = { accountId: number.account_id, whatsAppAccountId: number.id }
    const accessToken = openAccessToken(deps, ref, number.access_token_encrypted)
    if (accessToken === undefined) continue
    const outcome = await deps.whatsapp.deleteContact({ phoneNumberId: number.phone_number_id, accessToken }, userId)
    if (outcome.ok) return outcome.value
  }
  return undefined
}
