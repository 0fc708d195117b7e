import type { MessagePreview, SendMessageRequest } from '../../../contracts/api/message.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { renderMessage } from '../../templates/preview.ts'
import { estimateSend } from '../costs/estimate.ts'
import { checkMedia, namesMedia } from './media.ts'
import { recipientOf } from '../recipients/plan.ts'
import { checkSend } from './prepare.ts'

/** Runs the checks of a send and renders the text. Sends and stores nothing. */
export async function preview(
  deps: Pick<Deps, 'db' | 'now' | 'secrets' | 'randomBytes' | 'log'>,
  caller: Caller,
  input: SendMessageRequest,
): Promise<MessagePreview> {
  const { draft } = await checkSend(deps, caller, input)
  if (namesMedia(draft.filled)) await checkMedia(deps, caller.accountId, draft.filled)
  const costEstimate = await estimateSend(deps, {
    accountId: caller.accountId,
    whatsAppAccountId: draft.from.id,
    to: recipientOf(input),
    template: input.template,
    language: input.language,
  })
  return {
    to: recipientOf(input),
    ...(input.to === undefined && { recipient: input.recipient }),
    template: input.template,
    language: input.language,
    accountId: draft.from.id,
    ...renderMessage(draft.template, draft.filled),
    ...(costEstimate && { costEstimate }),
  }
}
