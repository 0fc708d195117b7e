import type { z } from 'zod'
import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import type { SentFromDashboard } from '../../../contracts/dashboard/message.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import { spendRequest } from '../../accounts/authenticate-store.ts'
import { assertWithinBudget } from '../../accounts/rate-limit.ts'
import type { Deps } from '../../deps.ts'
import { adviseOnFailure } from '../../whatsapp/failure-advice.ts'
import type { SendResult } from './outcome.ts'
import { prepare } from './prepare.ts'
import { dispatch, record } from './send.ts'

/**
 * Sends like any other message and spends the same rate limit: otherwise any signed-in user could bypass the rate limit.
 * A rejection by WhatsApp is a result here, not an error: the message is in the log, where users who test a template
 * look for it.
 */
export async function sendTest(
  deps: Deps,
  caller: Caller,
  input: SendMessageRequest,
): Promise<z.output<typeof SentFromDashboard>> {
  const budget = await spendRequest(deps.db, caller.accountId)
  if (budget) assertWithinBudget(budget)
  const prepared = await prepare(deps, caller, input)
  // Without an idempotency key nobody can be before us.
  await record(deps, prepared.message, undefined)
  const result = await dispatch(deps, prepared, undefined)
  return { messageId: prepared.message.id, ...describe(result) }
}

function describe(result: SendResult): Omit<z.output<typeof SentFromDashboard>, 'messageId'> {
  if (result.kind !== 'failed') return { status: result.kind }
  const { code, reason } = result
  return { status: 'failed', failure: adviseOnFailure({ code, message: reason }) }
}
