import type { z } from 'zod'
import type { SentTest } from '../../contracts/settings/template.ts'
import type { SendMessageRequest } from '../../contracts/message.ts'
import type { Caller } from '../auth/authenticate.ts'
import { assertWithinBudget } from '../auth/rate-limit.ts'
import { spendRequest } from '../auth/store.ts'
import type { Deps } from '../deps.ts'
import { adviseOnFailure } from '../whatsapp/failure-advice.ts'
import type { Conclusion } from './conclude.ts'
import { dispatch, prepare, record } from './send.ts'

/**
 * Sends like any other message, and spends the same rate limit: else whoever has a session could send without
 * one. What WhatsApp refused is an answer here and no error: the message is in the
 * log, and whoever tries a template wants to see it there.
 */
export async function sendTest(
  deps: Deps,
  caller: Caller,
  input: SendMessageRequest,
): Promise<z.output<typeof SentTest>> {
  const budget = await spendRequest(deps.db, caller.accountId)
  if (budget) assertWithinBudget(budget)
  const prepared = await prepare(deps, caller, input)
  // Without an idempotency key nobody can be before us.
  await record(deps, prepared.message, undefined)
  const conclusion = await dispatch(deps, prepared, undefined)
  return { messageId: prepared.message.id, ...describe(conclusion) }
}

function describe(conclusion: Conclusion): Omit<z.output<typeof SentTest>, 'messageId'> {
  if (conclusion.kind !== 'failed') return { status: conclusion.kind }
  const { code, reason } = conclusion
  return { status: 'failed', failure: adviseOnFailure({ code, message: reason }) }
}
