import type { MessagePreview, SendMessageRequest } from '../../../contracts/api/message.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { renderMessage } from '../../templates/preview.ts'
import { describeUnknownTemplate } from '../../templates/suggest.ts'
import { assertNotSuppressed } from '../suppressions/check.ts'
import { decide } from './decide.ts'
import { checkMedia, namesMedia } from './media.ts'
import { findSendFacts } from './facts-store.ts'

/** Checks what a send checks, and renders the text. Sends and stores nothing. */
export async function preview(
  deps: Pick<Deps, 'db' | 'now' | 'secrets' | 'randomBytes' | 'log'>,
  caller: Caller,
  input: SendMessageRequest,
): Promise<MessagePreview> {
  const facts = await findSendFacts(deps.db, {
    accountId: caller.accountId,
    whatsAppAccountId: input.accountId,
    template: input.template,
    language: input.language,
  })
  const { accountId } = caller
  const draft = decide(facts, input)
  if ('wabaId' in draft)
    throw await describeUnknownTemplate(deps.db, {
      ...draft,
      accountId,
      name: input.template,
      language: input.language,
    })
  if (draft.stoppedCategory !== undefined)
    await assertNotSuppressed(deps, { accountId, stoppedCategory: draft.stoppedCategory }, input)
  if (namesMedia(draft.filled)) await checkMedia(deps, accountId, draft.filled)
  return {
    to: input.to,
    template: input.template,
    language: input.language,
    accountId: draft.from.id,
    ...renderMessage(draft.template, draft.filled),
  }
}
