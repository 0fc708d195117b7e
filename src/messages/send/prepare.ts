import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import { unreadableToken, openAccessToken } from '../../whatsapp-accounts/secrets.ts'
import type { Deps } from '../../deps.ts'
import { isPossibleNumber } from '../../platform/number-lengths.ts'
import { describeUnknownTemplate } from '../../templates/suggest.ts'
import { describeContent, sealContent } from '../contents/content.ts'
import { waitPaused } from '../../platform/pausable.ts'
import type { PendingMessage } from '../message.ts'
import { assertCompleteNumbers } from '../recipients/check-number.ts'
import { recipientOf } from '../recipients/plan.ts'
import { assertNotSuppressed } from '../suppressions/check.ts'
import type { SendCaller } from './caller.ts'
import { decide, type Draft } from './decide.ts'
import { findSendFacts } from './facts-store.ts'
import { namesMedia, resolveMedia } from './media.ts'

/** Checks everything but media. Throws a `ServiceError` that says why the message cannot be sent. */
export async function checkSend(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>,
  { accountId }: Caller,
  input: SendMessageRequest,
): Promise<{ draft: Draft; accessToken: string }> {
  const { accountId: whatsAppAccountId, template, language } = input
  const facts = await findSendFacts(deps.db, { accountId, whatsAppAccountId, template, language })
  const draft = decide(facts, input)
  if (draft.kind === 'unknown-template')
    throw await describeUnknownTemplate(deps.db, { wabaId: draft.wabaId, accountId, name: template, language })
  const { from, suppressionRule } = draft
  // Awaited only if needed, so that other sends skip a turn of the event loop.
  if (input.to !== undefined && !isPossibleNumber(input.to))
    await assertCompleteNumbers(deps, { accountId, whatsAppAccountId: from.id }, [{ field: 'to', recipient: input.to }])
  if (suppressionRule) await assertNotSuppressed(deps, { accountId, suppressionRule }, recipientOf(input))
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId: from.id }, from.accessTokenEncrypted)
  if (accessToken === undefined) throw new ServiceError('NO_ACTIVE_ACCOUNT', unreadableToken(from.id))
  return { draft, accessToken }
}

/** A message that may be sent, with everything needed to send it. */
export interface Prepared extends Pick<Draft, 'from' | 'filled' | 'route'> {
  message: PendingMessage
  accessToken: string
}

/** Throws a `ServiceError` that says why the message cannot be sent. */
export async function prepare(deps: Deps, caller: SendCaller, input: SendMessageRequest): Promise<Prepared> {
  const { draft, accessToken } = await checkSend(deps, caller, input)
  const { accountId, slot } = caller
  const { from, emitSentEvent, route } = draft
  const { id: whatsAppAccountId, phoneNumberId, accessTokenEncrypted } = from
  let { filled } = draft
  if (namesMedia(filled)) {
    const sender = { accountId, whatsAppAccountId, phoneNumberId, accessToken, accessTokenEncrypted }
    filled = await waitPaused(slot, () => resolveMedia(deps, sender, draft.filled))
  }

  const createdAt = deps.now()
  // The ID contains the same time, because filters by time compare IDs.
  const id = deps.newId('msg', createdAt)
  const message: PendingMessage = {
    id,
    accountId,
    whatsAppAccountId,
    to: recipientOf(input),
    template: input.template,
    language: input.language,
    externalId: input.externalId ?? null,
    createdAt,
    emitSentEvent,
    contentEncrypted: draft.storesContent
      ? sealContent(deps.secrets, { accountId, messageId: id }, describeContent(draft.template, draft.filled, input))
      : undefined,
  }
  return { message, from, filled, route, accessToken }
}
