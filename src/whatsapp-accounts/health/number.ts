import type { NumberDetails } from '../../whatsapp/onboarding.ts'
import type { HealthChanges } from './store.ts'

/** Converts WhatsApp's description of a number to columns. */
export function toNumberHealth(number: NumberDetails, now: Date) {
  return {
    number_checked_at: now,
    number_status: number.status ?? null,
    name_status: number.nameStatus ?? null,
    messaging_limit: number.messagingLimit ?? null,
    // What cannot be read stays.
    ...(number.onBusinessApp !== undefined && { on_business_app: number.onBusinessApp }),
    health: JSON.stringify(number.health ?? []),
  } satisfies HealthChanges
}
