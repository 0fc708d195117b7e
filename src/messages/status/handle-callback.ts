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

/** The results of the statuses, and those of replies and opt-outs. */
export interface CallbackResult extends StatusCounts {
  ignored: number
  replies: StatusCounts
}

type CallbackDeps = Pick<Deps, 'db' | 'secrets' | 'newId' | 'randomBytes' | 'log' | 'announcements' | 'tracing'> & {
  recordCallbackTimes: RecordCallbackTimes
}

export interface AppSecrets {
  /** Of the app that signed the callback. */
  signer: string
  /** Of the app whose numbers have no secret of their own. */
  default: string | undefined
}

/**
 * Takes a callback whose signature was verified, whatever its size: part by part, so that neither its reading nor
 * its statuses hold up others. When this returns, its statuses are durable. An app speaks for the numbers that are
 * set up with its secret, and for no others: the owner of one app must not report on the messages of another.
 */
export async function handleCallback(deps: CallbackDeps, body: Buffer, secrets: AppSecrets): Promise<CallbackResult> {
  const findSpokenFor = rememberLast((names: SenderIds) => findSpokenForBy(deps, names, secrets))
  const taken: CallbackResult[] = []
  for (const part of readCallback(parseLeniently(body))) {
    // The parts of a callback that holds nothing for the database would otherwise be read at one go.
    if (taken.length > 0) await setImmediate()
    taken.push(await applyPart(deps, part, await findSpokenFor(listNames(part))))
  }
  return {
    ...addUp(taken),
    ignored: taken.reduce((sum, { ignored }) => sum + ignored, 0),
    replies: addUp(taken.map(({ replies }) => replies)),
  }
}

async function applyPart(deps: CallbackDeps, part: Inbound, spokenFor: CallbackSender[]): Promise<CallbackResult> {
  const { known, unknown } = splitStatuses(part.statuses, spokenFor)
  const ids = spokenFor.map(({ whatsAppAccountId }) => whatsAppAccountId)
  const taken = await applyStatuses(deps, known)
  deps.recordCallbackTimes(ids, { withStatuses: known.length > 0 })
  // After the statuses, which can be the first to tell the wamid of a message.
  const replies = await applyFromUsers(deps, part, spokenFor)
  await applyUpdates(deps, part, spokenFor)
  return { ...taken, unknown: taken.unknown + unknown, ignored: part.ignored, replies }
}

async function applyFromUsers(
  deps: CallbackDeps,
  { replies, preferences }: Inbound,
  spokenFor: CallbackSender[],
): Promise<StatusCounts> {
  const given = [...replies, ...preferences]
  if (given.length === 0) return noCounts()
  const senderOf = new Map(spokenFor.map((sender) => [sender.phoneNumberId, sender]))
  const address = <Item extends UserReply | UserPreferenceChange>(item: Item) => {
    const sender = senderOf.get(item.phoneNumberId)
    return sender ? [{ ...item, accountId: sender.accountId, whatsAppAccountId: sender.whatsAppAccountId }] : []
  }
  const known: FromUser[] = [
    // Texts of a chat are of no concern here.
    ...replies.filter((reply) => reply.repliesTo !== undefined || isTextChoice(reply)).flatMap(address),
    ...preferences.flatMap(address),
  ]
  const taken = await applyReplies(deps, known)
  return { ...taken, unknown: taken.unknown + given.length - known.length }
}

function parseLeniently(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

async function findSpokenForBy(deps: CallbackDeps, names: SenderIds, secrets: AppSecrets): Promise<CallbackSender[]> {
  const senders = await findCallbackSenders(deps, names, secrets.default)
  return senders.filter(({ appSecret }) => appSecret === secrets.signer)
}

/** The parts of a callback mostly name the same number. */
function rememberLast<Value>(find: (names: SenderIds) => Promise<Value>): (names: SenderIds) => Promise<Value> {
  let last: { key: string; value: Value } | undefined
  return async (names) => {
    const key = JSON.stringify(names)
    if (last?.key !== key) last = { key, value: await find(names) }
    return last.value
  }
}

function listNames({ statuses, replies, preferences, templates, accounts }: Inbound): SenderIds {
  return {
    phoneNumberIds: [...new Set([...statuses, ...replies, ...preferences].map((item) => item.phoneNumberId))],
    wabaIds: [...new Set([...templates, ...accounts].map((update) => update.wabaId))],
  }
}

const ourIdPattern = /^msg_[0-9a-z]{26}$/

function splitStatuses(
  statuses: StatusUpdate[],
  senders: CallbackSender[],
): { known: IncomingStatus[]; unknown: number } {
  const accountOf = new Map(senders.map((sender) => [sender.phoneNumberId, sender.accountId]))
  const known = statuses.flatMap(({ phoneNumberId, callbackData, ...report }) => {
    const accountId = accountOf.get(phoneNumberId)
    const messageId = callbackData !== undefined && ourIdPattern.test(callbackData) ? callbackData : undefined
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
