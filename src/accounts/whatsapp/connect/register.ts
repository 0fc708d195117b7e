import type { ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import type { Deps } from '../../../deps.ts'
import { saveHealth } from '../health/store.ts'
import { explainFailure } from './advice.ts'
import { openStored } from './subscribe.ts'
import { readNumberFacts } from '../health/number.ts'

/** Registers a phone number with the Cloud API. The PIN is not stored. */
export async function registerNumber(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now'>,
  { accountId, whatsAppAccountId }: { accountId: string; whatsAppAccountId: string },
  pin: string,
): Promise<ConnectStep> {
  const stored = await openStored(deps, { accountId, whatsAppAccountId })
  if ('problem' in stored) return stored.problem
  const { row, accessToken } = stored
  const outcome = await deps.whatsapp.registerNumber({ phoneNumberId: row.phone_number_id, accessToken, pin })
  if (!outcome.ok) return { ok: false, ...explainFailure(outcome) }
  const number = await readNumberFacts(deps, { phoneNumberId: row.phone_number_id, accessToken })
  await saveHealth(deps.db, stored, { number_status: 'CONNECTED', ...number.columns })
  return {
    ok: true,
    message: 'The number is registered with the Cloud API. Keep its PIN: it is needed to register the number again.',
  }
}
