import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { PhoneNumberInfo, ReadOutcome } from '../../whatsapp/whatsapp.ts'
import { changeWhatsAppAccount } from './store.ts'

interface ClaimedNumber {
  phoneNumberId: string
  wabaId: string
  accessToken: string
}

const retrySeconds = 10
const remedy = 'If you know that the number is yours, add it with --unverified.'

/**
 * Asks WhatsApp whether this token reaches this number and whether the number belongs to this WABA. A number can be
 * stored once, so without the check anybody could take one that is not theirs. Returns what WhatsApp says of it.
 */
export async function verifyPhoneNumber(
  { whatsapp }: Pick<Deps, 'whatsapp'>,
  claimed: ClaimedNumber,
): Promise<PhoneNumberInfo> {
  const [number, listed] = await Promise.all([whatsapp.getPhoneNumber(claimed), whatsapp.hasPhoneNumber(claimed)])
  if (!number.ok)
    throw refusal(number, 'phoneNumberId', 'WhatsApp does not show this phone number to this access token')
  if (!listed.ok)
    throw refusal(listed, 'wabaId', 'WhatsApp does not show this WhatsApp Business Account to this access token')
  if (!listed.value)
    throw new ServiceError(
      'VALIDATION_ERROR',
      'The phone number does not belong to this WhatsApp Business Account. Check both IDs.',
      {
        field: 'wabaId',
        remedy,
      },
    )
  return number.value
}

type Failed = Extract<ReadOutcome<unknown>, { ok: false }>

function refusal(failed: Failed, field: 'phoneNumberId' | 'wabaId', denied: string): Error {
  const { refused, transient, accountUnusable, reason, error } = failed
  if (!refused || transient === true)
    return new ServiceError(
      'WHATSAPP_UNAVAILABLE',
      `WhatsApp could not be asked whether the access token works: ${reason}. Nothing was stored. Try again in a moment.`,
      { retryAfterSeconds: retrySeconds },
    )
  const words = error === undefined ? reason : `code ${error.code}: ${error.title}`
  if (accountUnusable)
    return new ServiceError('VALIDATION_ERROR', `WhatsApp refuses this access token (${words}).`, {
      field: 'accessToken',
      remedy,
    })
  return new ServiceError('VALIDATION_ERROR', `${denied} (${words}). Check the ID, and that the token may use it.`, {
    field,
    remedy,
  })
}

/** What WhatsApp says of a number, for its owner to see. */
export async function storePhoneNumber(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
  info: PhoneNumberInfo,
): Promise<void> {
  await changeWhatsAppAccount(db, accountId, whatsAppAccountId, toColumns(info))
}

export function toColumns({ displayPhoneNumber, verifiedName, qualityRating, throughput }: PhoneNumberInfo) {
  return {
    display_phone_number: displayPhoneNumber ?? null,
    verified_name: verifiedName ?? null,
    quality_rating: qualityRating ?? null,
    throughput_level: throughput ?? null,
  }
}
