import type { z } from 'zod'
import type { WhatsAppAccountTest } from '../../contracts/dashboard/whatsapp-account.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { errorFacts, errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { withFacts } from '../../contracts/facts/fact.ts'
import type { Deps } from '../deps.ts'
import type { PhoneNumberInfo, TokenInfo } from '../whatsapp/onboarding.ts'
import type { ReadOutcome } from '../whatsapp/read-outcome.ts'
import { deactivateRefused } from './change.ts'
import { openAccessToken, unreadableToken } from './secrets.ts'
import { changeWhatsAppAccount, findWhatsAppAccount } from './store.ts'
import { requireWhatsAppAccount } from './whatsapp-account.ts'

interface ClaimedNumber {
  phoneNumberId: string
  wabaId: string
  accessToken: string
}

const retrySeconds = 10
const remedy = 'If you are sure that the number is yours, add it with --unverified.'
const rejectedRemedy =
  'Check in Meta Business Suite that the token is valid and may use the number, or create a new one.'

/**
 * Verifies with WhatsApp that the token can use the number and that the number belongs to the WABA, and returns
 * WhatsApp's description of the number. A number can only be added once, so without this check anybody could block a
 * number that is not theirs.
 */
export async function verifyPhoneNumber(
  { whatsapp }: Pick<Deps, 'whatsapp'>,
  claimed: ClaimedNumber,
): Promise<PhoneNumberInfo> {
  const [number, listed] = await Promise.all([whatsapp.getPhoneNumber(claimed), whatsapp.hasPhoneNumber(claimed)])
  if (!number.ok) throw refusal(number, 'phoneNumberId', errorFactsWithValues.numberNotShown)
  if (!listed.ok) throw refusal(listed, 'wabaId', errorFactsWithValues.wabaNotShown)
  if (!listed.value)
    throw new ServiceError('VALIDATION_ERROR', errorFacts.otherBusinessAccount(), {
      field: 'wabaId',
      remedy,
    })
  return number.value
}

/** WhatsApp shows the number even to a token that has no permission to send. */
export function refuseMissingPermission(token: TokenInfo | undefined): void {
  if (!token || token.scopes.includes('whatsapp_business_messaging')) return
  throw new ServiceError('VALIDATION_ERROR', errorFacts.messagingPermission(), { field: 'accessToken', remedy })
}

type Failed = Extract<ReadOutcome<unknown>, { ok: false }>

function refusal(
  failed: Failed,
  field: 'phoneNumberId' | 'wabaId',
  denied: typeof errorFactsWithValues.numberNotShown,
): Error {
  const { refused, transient, accountUnusable, reason, error } = failed
  if (!refused || transient === true)
    return new ServiceError('WHATSAPP_UNAVAILABLE', errorFactsWithValues.tokenNotVerified({ reason }), {
      retryAfterSeconds: retrySeconds,
    })
  const words = error === undefined ? reason : `code ${error.code}: ${error.title}`
  if (accountUnusable)
    return new ServiceError('VALIDATION_ERROR', errorFactsWithValues.tokenRejected({ words }), {
      field: 'accessToken',
      remedy: rejectedRemedy,
    })
  return new ServiceError('VALIDATION_ERROR', denied({ words }), {
    field,
    remedy,
  })
}

/** Stores WhatsApp's description of a number, for display. */
export async function storePhoneNumber(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
  info: PhoneNumberInfo,
): Promise<void> {
  await changeWhatsAppAccount(db, accountId, whatsAppAccountId, toNumberFields(info))
}

export function toNumberFields({ displayPhoneNumber, verifiedName, qualityRating, throughput }: PhoneNumberInfo) {
  return {
    displayPhoneNumber: displayPhoneNumber ?? null,
    verifiedName: verifiedName ?? null,
    qualityRating: qualityRating ?? null,
    throughputLevel: throughput ?? null,
  }
}

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
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId }, row.accessTokenEncrypted)
  if (accessToken === undefined) return { ok: false, ...withFacts({ reason: unreadableToken(whatsAppAccountId) }) }
  const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: row.phoneNumberId, accessToken })
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
