import type { z } from 'zod'
import type { SentFromDashboard, sendMessageAgain } from '../../../contracts/dashboard/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { erasedRecipient } from '../../../contracts/fields.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { requireMessage } from '../queries/get.ts'
import { sendTest } from './send-test.ts'

/**
 * Sends a new message like an earlier one. Recipient, template and number come from the stored message, so that the
 * audit log says what was sent to whom. All checks of a send apply.
 */
export async function sendAgain(
  deps: Deps,
  { accountId, messageId, ...values }: InputOf<typeof sendMessageAgain>,
): Promise<z.output<typeof SentFromDashboard>> {
  const { to, template, language, whatsAppAccountId, externalId } = await requireMessage(deps, accountId, messageId)
  if (to === erasedRecipient)
    throw new ServiceError('VALIDATION_ERROR', 'messageId: the recipient of this message was erased.')
  const request = { to, template, language, accountId: whatsAppAccountId, ...values }
  return sendTest(deps, { accountId }, { ...request, ...(externalId !== null && { externalId }) })
}
