import { setImmediate } from 'node:timers/promises'
import { type CallbackSender, findCallbackSenders, type SenderIds } from '../../accounts/whatsapp/callback-senders.ts'
import type { RecordCallbackTimes } from '../../accounts/whatsapp/health/callback-times.ts'
import { applyAccountUpdate } from '../../accounts/whatsapp/refusals.ts'
import type { Deps } from '../../deps.ts'
import { applyTemplateUpdate } from '../../templates/apply-update.ts'
import { type Inbound, readCallback, type StatusUpdate } from '../../whatsapp/callbacks/read-callback.ts'
import type { UserPreferenceChange, UserReply } from '../../whatsapp/callbacks/read-reply.ts'
import { applyReplies, type FromUser, isTextChoice } from '../replies/apply-replies.ts'
import { type IncomingStatus, applyStatuses } from './apply-statuses.ts'
import { addUp, noCounts, type StatusCounts } from './counts.ts'

/** The results of the statuses; separately, those of replies and opt-outs. */
export interface CallbackResult extends StatusCounts {
  ignored: number
  replies: StatusCounts
}

type CallbackDeps = Pick<Deps, 'db' | 'secrets' | 'newId' | 'randomBytes' | 'log' | 'announcements' | 'tracing'> & {
  recordCallbackTimes: RecordCallbackTimes
}

export interface AppSecrets {
  /** Secret of the app that signed the callback. */
  signer: string
  /** Secret for numbers without one of their own. */
  default: string | undefined
}

/**
 * Handles a callback whose signature was verified. It is handled in parts, so that a large one does not block others.
 * When this returns, its statuses are durable. Only numbers that are set up with the signing app's secret are
 * considered: the owner of one app must not report on the messages of another.
 */
export async function handleCallback(deps: CallbackDeps, body: Buffer, secrets: AppSecrets): Promise<CallbackResult> {
  const findSenders = memoizeLast((ids: SenderIds) => findSendersOfApp(deps, ids, secrets))
  const results: CallbackResult[] = []
  for (const part of readCallback(parseLeniently(body))) {
    // Yields between parts, because a run of parts without database access would block the event loop.
    if (results.length > 0) await setImmediate()
    results.push(await applyPart(deps, part, await findSenders(listSenderIds(part))))
  }
  return {
    ...addUp(results),
    ignored: results.reduce((sum, { ignored }) => sum + ignored, 0),
    replies: addUp(results.map(({ replies }) => replies)),
  }
}

async function applyPart(deps: CallbackDeps, part: Inbound, senders: CallbackSender[]): Promise<CallbackResult> {
  const { known, unknown } = splitStatuses(part.statuses, senders)
  const ids = senders.map(({ whatsAppAccountId }) => whatsAppAccountId)
  const counts = await applyStatuses(deps, known)
  deps.recordCallbackTimes(ids, { withStatuses: known.length > 0 })
  // After the statuses, because a reply can refer to a wamid that only they report.
  const replies = await applyFromUsers(deps, part, senders)
  await applyUpdates(deps, part, senders)
  return { ...counts, unknown: counts.unknown + unknown, ignored: part.ignored, replies }
}

async function applyFromUsers(
  deps: CallbackDeps,
  { replies, preferences }: Inbound,
  senders: CallbackSender[],
): Promise<StatusCounts> {
  const items = [...replies, ...preferences]
  if (items.length === 0) return noCounts()
  const senderOf = new Map(senders.map((sender) => [sender.phoneNumberId, sender]))
  const withAccount = <Item extends UserReply | UserPreferenceChange>(item: Item) => {
    const sender = senderOf.get(item.phoneNumberId)
    return sender ? [{ ...item, accountId: sender.accountId, whatsAppAccountId: sender.whatsAppAccountId }] : []
  }
  const known: FromUser[] = [
    // Other chat messages are ignored.
    ...replies.filter((reply) => reply.repliesTo !== undefined || isTextChoice(reply)).flatMap(withAccount),
    ...preferences.flatMap(withAccount),
  ]
  const counts = await applyReplies(deps, known)
  return { ...counts, unknown: counts.unknown + items.length - known.length }
}

function parseLeniently(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

async function findSendersOfApp(deps: CallbackDeps, ids: SenderIds, secrets: AppSecrets): Promise<CallbackSender[]> {
  const senders = await findCallbackSenders(deps, ids, secrets.default)
  return senders.filter(({ appSecret }) => appSecret === secrets.signer)
}

/** Consecutive parts of a callback usually name the same number. */
function memoizeLast<Value>(find: (ids: SenderIds) => Promise<Value>): (ids: SenderIds) => Promise<Value> {
  let last: { key: string; value: Value } | undefined
  return async (ids) => {
    const key = JSON.stringify(ids)
    if (last?.key !== key) last = { key, value: await find(ids) }
    return last.value
  }
}

function listSenderIds({ statuses, replies, preferences, templates, accounts }: Inbound): SenderIds {
  return {
    phoneNumberIds: [...new Set([...statuses, ...replies, ...preferences].map((item) => item.phoneNumberId))],
    wabaIds: [...new Set([...templates, ...accounts].map((update) => update.wabaId))],
  }
}

const messageIdPattern = /^msg_[0-9a-z]{26}$/

function splitStatuses(
  statuses: StatusUpdate[],
  senders: CallbackSender[],
): { known: IncomingStatus[]; unknown: number } {
  const accountOf = new Map(senders.map((sender) => [sender.phoneNumberId, sender.accountId]))
  const known = statuses.flatMap(({ phoneNumberId, callbackData, ...report }) => {
    const accountId = accountOf.get(phoneNumberId)
    const messageId = callbackData !== undefined && messageIdPattern.test(callbackData) ? callbackData : undefined
    return accountId === undefined ? [] : [{ accountId, messageId, waMessageId: report.waMessageId, report }]
  })
  return { known, unknown: statuses.length - known.length }
}

async function applyUpdates(
  deps: Pick<Deps, 'db' | 'log'>,
  { templates, accounts }: Inbound,
  senders: CallbackSender[],
): Promise<void> {
  for (const update of templates)
    for (const accountId of new Set(
      senders.filter((sender) => sender.wabaId === update.wabaId).map((sender) => sender.accountId),
    ))
      await applyTemplateUpdate(deps, accountId, update)
  for (const update of accounts)
    for (const sender of senders.filter(({ wabaId }) => wabaId === update.wabaId))
      await applyAccountUpdate(deps, sender, update)
}
