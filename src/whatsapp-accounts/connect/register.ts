import type { ConnectStep } from '../../../contracts/dashboard/connect.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { toNumberHealth } from '../health/number.ts'
import { saveHealth } from '../health/store.ts'
import { explainReadFailure } from './advice.ts'
import { openStored } from './stored.ts'

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
  if (!outcome.ok) return { ok: false, ...withFacts({ ...explainReadFailure(outcome) }) }
  const number = await deps.whatsapp.getNumberDetails({ phoneNumberId: row.phone_number_id, accessToken })
  const facts = number.ok ? toNumberHealth(number.value, deps.now()) : { number_status: 'CONNECTED' }
  await saveHealth(deps.db, stored, facts)
  return { ok: true, ...withFacts({ message: connectFacts.registered() }) }
}
