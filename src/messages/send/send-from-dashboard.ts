import type { z } from 'zod'
import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import type { sendMessageAgain, SentFromDashboard } from '../../../contracts/dashboard/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import { spendRequest } from '../../accounts/authenticate-store.ts'
import { assertWithinRateLimit } from '../../accounts/rate-limit.ts'
import type { Deps } from '../../deps.ts'
import { adviseOnFailure } from '../../whatsapp/failure-advice.ts'
import { isUserId } from '../recipients/plan-identities.ts'
import { requireMessage } from '../queries/read.ts'
import { prepare, type SendCaller } from './prepare.ts'
import type { SendResult } from './outcome.ts'
import { dispatch, record } from './send.ts'

/**
 * Counts against the account's rate limit; otherwise any signed-in user could bypass it. Disabling API access does not
 * apply, because it only rejects requests with the API key: an owner can still test a template.
 * A suspension does apply. Returns a rejection by WhatsApp instead of throwing it: the message is in the log, where
 * users who test a template look for it.
 */
export async function sendFromDashboard(
  deps: Deps,
  caller: SendCaller,
  input: SendMessageRequest,
): Promise<z.output<typeof SentFromDashboard>> {
  const budget = await spendRequest(deps.db, caller.accountId)
  if (budget) assertWithinRateLimit(budget)
  const prepared = await prepare(deps, caller, input)
  // Without an idempotency key, it is always recorded.
  await record(deps, caller, prepared.message, undefined)
  const result = await dispatch(deps, caller, prepared, undefined)
  return { messageId: prepared.message.id, ...describe(result) }
}

/**
 * Sends a copy of an earlier message. Recipient, template and number come from the stored message, so that the audit
 * log shows what was sent to whom. All checks of a send apply.
 */
export async function sendAgain(
  deps: Deps,
  { slot }: Pick<SendCaller, 'slot'>,
  { accountId, messageId, ...values }: InputOf<typeof sendMessageAgain>,
): Promise<z.output<typeof SentFromDashboard>> {
  const { to, template, language, whatsAppAccountId, externalId } = await requireMessage(deps, accountId, messageId)
  if (to === erasedRecipient)
    throw new ServiceError('VALIDATION_ERROR', 'messageId: the recipient of this message was erased.')
  const addressed = isUserId(to) ? { recipient: to } : { to }
  const request = { ...addressed, template, language, accountId: whatsAppAccountId, ...values }
  return sendFromDashboard(deps, { accountId, slot }, { ...request, ...(externalId !== null && { externalId }) })
}

function describe(result: SendResult): Omit<z.output<typeof SentFromDashboard>, 'messageId'> {
  if (result.kind !== 'failed') return { status: result.kind }
  const { code, reason } = result
  return { status: 'failed', failure: adviseOnFailure({ code, message: reason }) }
}
