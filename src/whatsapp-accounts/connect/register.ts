import type { ConnectStep } from '../../../contracts/dashboard/connect.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { toNumberHealth } from '../health/number.ts'
import { saveHealth } from '../health/store.ts'
import { explainReadFailure } from './advice.ts'
import { openStored } from './stored.ts'

/**
 * Registers a phone number with the Cloud API. The PIN is not stored. A number that is also used in the WhatsApp Business
 * app is not registered, also if it was not known to be: the app on the phone would be disconnected.
 */
export async function registerNumber(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now'>,
  { accountId, whatsAppAccountId }: { accountId: string; whatsAppAccountId: string },
  pin: string,
): Promise<ConnectStep> {
  const stored = await openStored(deps, { accountId, whatsAppAccountId })
  if ('problem' in stored) return stored.problem
  const { row, accessToken } = stored
  const number = { phoneNumberId: row.phone_number_id, accessToken }
  const use = await deps.whatsapp.isOnBusinessApp(number)
  // A version or a provider without the field has no such numbers.
  if (!use.ok && use.error?.code !== 100) return { ok: false, ...withFacts({ ...explainReadFailure(use) }) }
  if (use.ok && use.value === true) {
    await saveHealth(deps.db, stored, { on_business_app: true })
    return { ok: false, ...withFacts({ message: connectFacts.onBusinessApp() }) }
  }
  const outcome = await deps.whatsapp.registerNumber({ ...number, pin })
  if (!outcome.ok) return { ok: false, ...withFacts({ ...explainReadFailure(outcome) }) }
  const details = await deps.whatsapp.getNumberDetails(number)
  const facts = details.ok ? toNumberHealth(details.value, deps.now()) : { number_status: 'CONNECTED' }
  await saveHealth(deps.db, stored, facts)
  return { ok: true, ...withFacts({ message: connectFacts.registered() }) }
}
