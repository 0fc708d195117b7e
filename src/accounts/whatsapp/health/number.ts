import type { Deps } from '../../../deps.ts'
import type { NumberDetails } from '../../../whatsapp/onboarding.ts'
import type { ReadOutcome } from '../../../whatsapp/whatsapp.ts'

/** What WhatsApp says of a number. A failed read says nothing about it. */
export async function readNumberFacts(
  { whatsapp, now }: Pick<Deps, 'whatsapp' | 'now'>,
  number: { phoneNumberId: string; accessToken: string },
) {
  const outcome = await whatsapp.getNumberDetails(number)
  return { outcome, columns: outcome.ok ? toNumberColumns(outcome, now()) : {} }
}

function toNumberColumns({ value }: Extract<ReadOutcome<NumberDetails>, { ok: true }>, now: Date) {
  return {
    number_checked_at: now,
    number_status: value.status ?? null,
    name_status: value.nameStatus ?? null,
    messaging_limit: value.messagingLimit ?? null,
    health: JSON.stringify(value.health ?? []),
  }
}
