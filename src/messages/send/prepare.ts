import type { MessagePreview, SendMessageRequest } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { Deps } from '../../deps.ts'
import { isPossibleNumber } from '../../platform/number-lengths.ts'
import { type ConcurrencySlot, withSlotPaused } from '../../platform/concurrency-slot.ts'
import { renderMessage } from '../../templates/preview.ts'
import { describeUnknownTemplate } from '../../templates/suggest.ts'
import { openAccessToken, unreadableToken } from '../../whatsapp-accounts/secrets.ts'
import { describeContent, sealContent } from '../contents/content.ts'
import { estimateSend } from '../costs/estimate.ts'
import type { PendingMessage } from '../message.ts'
import { assertCompleteNumbers } from '../recipients/check-number.ts'
import { recipientOf } from '../recipients/plan-identities.ts'
import { assertNotSuppressed } from '../suppressions/check.ts'
import { decide, type Draft, type SendFacts, type SendingAccount, type UnknownTemplate } from './decide.ts'
import { findSendFacts } from './facts-store.ts'
import { checkMedia, namesMedia, resolveMedia } from './media.ts'

type CheckDeps = Pick<Deps, 'db' | 'secrets' | 'randomBytes' | 'log'>

function findFacts({ db }: CheckDeps, { accountId }: Caller, input: SendMessageRequest): Promise<SendFacts> {
  const { accountId: whatsAppAccountId, template, language } = input
  return findSendFacts(db, { accountId, whatsAppAccountId, template, language })
}

/**
 * Checks everything but media. Throws a `ServiceError` that says why the message cannot be sent. It returns a promise only
 * if it needs another statement, which most sends do not.
 */
function checkSend(
  deps: CheckDeps,
  { accountId }: Caller,
  input: SendMessageRequest,
  facts: SendFacts,
): Draft | Promise<Draft> {
  const draft = decide(facts, input)
  const isPossible = input.to === undefined || isPossibleNumber(input.to)
  if (draft.kind === 'draft' && isPossible && !draft.suppressionRule) return draft
  return checkByStatements(deps, accountId, input, draft)
}

async function checkByStatements(
  deps: CheckDeps,
  accountId: string,
  input: SendMessageRequest,
  draft: Draft | UnknownTemplate,
): Promise<Draft> {
  const { to, template: name, language } = input
  if (draft.kind === 'unknown-template')
    throw await describeUnknownTemplate(deps.db, { wabaId: draft.wabaId, accountId, name, language })
  const { from, suppressionRule } = draft
  if (to !== undefined && !isPossibleNumber(to))
    await assertCompleteNumbers(deps, { accountId, whatsAppAccountId: from.id }, [{ field: 'to', recipient: to }])
  if (suppressionRule) await assertNotSuppressed(deps, { accountId, suppressionRule }, recipientOf(input))
  return draft
}

function openToken(deps: CheckDeps, { accountId }: Caller, { id, accessTokenEncrypted }: SendingAccount): string {
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId: id }, accessTokenEncrypted)
  if (accessToken === undefined) throw new ServiceError('NO_ACTIVE_ACCOUNT', unreadableToken(id))
  return accessToken
}

/** A message that may be sent, with everything needed to send it. */
export interface Prepared extends Pick<Draft, 'from' | 'filled' | 'route'> {
  message: PendingMessage
  accessToken: string
}

/** Throws a `ServiceError` that says why the message cannot be sent. */
export async function prepare(deps: Deps, caller: SendCaller, input: SendMessageRequest): Promise<Prepared> {
  const checking = checkSend(deps, caller, input, await findFacts(deps, caller, input))
  const draft = checking instanceof Promise ? await checking : checking
  const { accountId, slot } = caller
  const { from, emitSentEvent, route } = draft
  const accessToken = openToken(deps, caller, from)
  const { id: whatsAppAccountId, phoneNumberId, accessTokenEncrypted } = from
  let { filled } = draft
  if (namesMedia(filled)) {
    const sender = { accountId, whatsAppAccountId, phoneNumberId, accessToken, accessTokenEncrypted }
    filled = await withSlotPaused(slot, () => resolveMedia(deps, sender, draft.filled))
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

/** Who sends a message. */
export interface SendCaller extends Caller {
  /** Paused while the send waits for WhatsApp; absent outside a request. */
  slot?: ConcurrencySlot | null
  /** Receives the ID of each message that the call sends or replays. */
  onMessage?(messageId: string): void
  /** The response will be that of an earlier request with the same `Idempotency-Key`. */
  onReplay?(): void
}

/** Runs the checks of a send and renders the text. Sends and stores nothing. */
export async function preview(
  deps: Pick<Deps, 'db' | 'now' | 'secrets' | 'randomBytes' | 'log'>,
  caller: Caller,
  input: SendMessageRequest,
): Promise<MessagePreview> {
  const draft = await checkSend(deps, caller, input, await findFacts(deps, caller, input))
  // A token that cannot be read is also reported here.
  openToken(deps, caller, draft.from)
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
