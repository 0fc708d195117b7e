import { ServiceError } from '../../contracts/errors.ts'
import { failureFacts } from '../../contracts/facts/errors.ts'
import { type Sentence, withFacts } from '../../contracts/facts/fact.ts'
import { inactiveReasons } from '../../contracts/facts/findings.ts'
import type { WhatsAppAccount } from '../../contracts/dashboard/whatsapp-account.ts'
import type { Deps } from '../deps.ts'
import { requireAccount } from '../accounts/account.ts'
import { readInactiveReason } from './inactive-reason.ts'
import { findWhatsAppAccounts, type WhatsAppAccountRow } from './store.ts'

/** Converts a row to the form shown to users, without its secrets. */
export function toWhatsAppAccount(row: WhatsAppAccountRow): WhatsAppAccount {
  const inactiveReason = whyInactive(row)
  return {
    whatsAppAccountId: row.id,
    phoneNumberId: row.phone_number_id,
    wabaId: row.waba_id,
    isDefault: row.is_default,
    active: row.active,
    ...(inactiveReason !== undefined && { ...withFacts({ reason: inactiveReason }), switchedOff: row.switched_off }),
    ...(row.display_phone_number !== null && { displayPhoneNumber: row.display_phone_number }),
    ...(row.verified_name !== null && { verifiedName: row.verified_name }),
    hasAppSecret: row.app_secret_encrypted !== null,
    ...(row.quality_rating !== null && { qualityRating: row.quality_rating }),
    ...(row.throughput_level !== null && { throughputLevel: row.throughput_level }),
    marketingSetting: row.marketing_setting,
    messagingAccountSetting: row.messaging_account_setting,
    createdAt: row.created_at.toISOString(),
  }
}

/** Undefined if the account is active. */
export function whyInactive(
  row: Pick<WhatsAppAccountRow, 'switched_off' | 'inactive_reason' | 'inactive_fact'>,
): Sentence | undefined {
  return row.switched_off ? inactiveReasons.byUser() : (readInactiveReason(row) ?? undefined)
}

export function whatsAppAccountNotFound(whatsAppAccountId: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    failureFacts.whatsAppAccountNotFound({ value: JSON.stringify(whatsAppAccountId) }),
    {
      remedy: 'List the WhatsApp accounts of an account: waybill whatsapp list <account>',
    },
  )
}

export function requireWhatsAppAccount(
  row: WhatsAppAccountRow | undefined,
  whatsAppAccountId: string,
): WhatsAppAccountRow {
  if (!row) throw whatsAppAccountNotFound(whatsAppAccountId)
  return row
}

export async function listWhatsAppAccounts(deps: Pick<Deps, 'db'>, accountId: string): Promise<WhatsAppAccount[]> {
  await requireAccount(deps.db, accountId)
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  return rows.map(toWhatsAppAccount)
}
