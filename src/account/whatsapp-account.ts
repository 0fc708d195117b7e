import { OperatorError } from './operator-error.ts'
import type { WhatsAppAccountRow } from './whatsapp-account-store.ts'

/** Why an account is inactive that its owner, or an operator for them, took out of use. */
export const switchedOffReason = 'switched off by its owner'

/** A WhatsApp account as its operator sees it; its secrets stay where they are. */
export interface WhatsAppAccount {
  whatsAppAccountId: string
  phoneNumberId: string
  wabaId: string
  isDefault: boolean
  active: boolean
  /** Why it is not active; absent when it is. */
  reason?: string
  /** Whether a person took it out of use, and not WhatsApp. Absent when it is active. */
  switchedOff?: boolean
  /** Telephone number and name, as WhatsApp reported them last; absent until then. */
  displayPhoneNumber?: string
  verifiedName?: string
  hasAppSecret: boolean
  /** As WhatsApp reported it last; absent until then. */
  qualityRating?: string
  /** As WhatsApp reported it last; absent until then. */
  throughputLevel?: string
  createdAt: string
}

export function toWhatsAppAccount(row: WhatsAppAccountRow): WhatsAppAccount {
  return {
    whatsAppAccountId: row.id,
    phoneNumberId: row.phone_number_id,
    wabaId: row.waba_id,
    isDefault: row.is_default,
    active: row.active,
    ...(!row.active && row.inactive_reason !== null && { reason: row.inactive_reason }),
    ...(!row.active && { switchedOff: row.inactive_reason === switchedOffReason }),
    ...(row.display_phone_number !== null && { displayPhoneNumber: row.display_phone_number }),
    ...(row.verified_name !== null && { verifiedName: row.verified_name }),
    hasAppSecret: row.app_secret_encrypted !== null,
    ...(row.quality_rating !== null && { qualityRating: row.quality_rating }),
    ...(row.throughput_level !== null && { throughputLevel: row.throughput_level }),
    createdAt: row.created_at.toISOString(),
  }
}

export function noSuchWhatsAppAccount(whatsAppAccountId: string): OperatorError {
  return new OperatorError(`There is no WhatsApp account ${JSON.stringify(whatsAppAccountId)}.`, {
    missing: true,
    remedy: 'Those of an account are listed by: waybill whatsapp list <account>',
  })
}

export function requireWhatsAppAccount(
  row: WhatsAppAccountRow | undefined,
  whatsAppAccountId: string,
): WhatsAppAccountRow {
  if (!row) throw noSuchWhatsAppAccount(whatsAppAccountId)
  return row
}
