import type { Deps } from '../deps.ts'
import type { PhoneNumberInfo } from '../whatsapp/whatsapp.ts'
import { changeWhatsAppAccount } from './whatsapp-account-store.ts'

/** What WhatsApp says of a number, for its owner to see. */
export async function keepPhoneNumber(
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
