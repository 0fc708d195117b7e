import { withFacts } from '../../contracts/facts/fact.ts'
import type { z } from 'zod'
import type { WhatsAppAccountTest } from '../../contracts/dashboard/whatsapp-account.ts'
import type { Deps } from '../deps.ts'
import { storePhoneNumber } from './phone-number.ts'
import { deactivateRefused } from './refusals.ts'
import { openAccessToken, unreadableToken } from './secrets.ts'
import { findWhatsAppAccount } from './store.ts'
import { requireWhatsAppAccount } from './whatsapp-account.ts'

/**
 * Reads the phone number from WhatsApp, which shows whether the token works. Stores the reported values. If WhatsApp
 * rejects the token, the account is deactivated, as after a failed send.
 */
export async function testWhatsAppAccount(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<z.output<typeof WhatsAppAccountTest>> {
  const row = requireWhatsAppAccount(
    await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId),
    whatsAppAccountId,
  )
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId }, row.access_token_encrypted)
  if (accessToken === undefined) return { ok: false, ...withFacts({ reason: unreadableToken(whatsAppAccountId) }) }
  const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: row.phone_number_id, accessToken })
  if (!outcome.ok) {
    if (outcome.accountUnusable && outcome.error) await deactivateRefused(deps, row, outcome.error)
    return { ok: false, reason: outcome.reason }
  }
  const { displayPhoneNumber, verifiedName, qualityRating, throughput } = outcome.value
  await storePhoneNumber(deps, accountId, whatsAppAccountId, outcome.value)
  return {
    ok: true,
    ...(displayPhoneNumber !== undefined && { displayPhoneNumber }),
    ...(verifiedName !== undefined && { verifiedName }),
    ...(qualityRating !== undefined && { qualityRating }),
    ...(throughput !== undefined && { throughputLevel: throughput }),
  }
}
