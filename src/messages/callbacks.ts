import { setImmediate } from 'node:timers/promises'
import { dayMilliseconds } from '../../contracts/time.ts'
import type { Deps } from '../deps.ts'
import {
  type AppSecrets,
  type CallbackSender,
  findSendersOfApp,
  type SenderIds,
} from '../whatsapp-accounts/callback-senders.ts'
import type { RecordCallbackTimes } from '../whatsapp-accounts/health/callback-times.ts'
import {
  type Inbound,
  readCallback,
  type ReportedError,
  type StatusUpdate,
} from '../whatsapp/callbacks/read-callback.ts'
import type { IdentityChange } from '../whatsapp/callbacks/read-identity.ts'
import type { UserPreferenceChange, UserReply } from '../whatsapp/callbacks/read-reply.ts'
import { applyUpdates } from './apply-updates.ts'
import { addTo, noCounts, type ApplyCounts } from './batched-by-account.ts'
import { applyUserUpdates, isChoice, type UserUpdate } from './replies.ts'
import { applyStatuses, type IncomingStatus } from './status/apply-statuses.ts'
import type { NoteMissing } from './status/missing-messages.ts'
import { messageIdPattern } from '../platform/ids.ts'

/** The results of the statuses; separately, those of replies and opt-outs. */
export interface CallbackResult extends ApplyCounts {
  ignored: number
  replies: ApplyCounts
}

type CallbackDeps = Pick<
  Deps,
  'db' | 'now' | 'secrets' | 'newId' | 'randomBytes' | 'log' | 'notifications' | 'tracing'
> & {
  recordCallbackTimes: RecordCallbackTimes
  noteMissing: NoteMissing
  noteErrors: NoteErrors
}

/** Receives the errors of a callback that belong to no message, with the WhatsApp account if the signing app has it. */
export type NoteErrors = (errors: readonly (ReportedError & { whatsAppAccountId: string | undefined })[]) => void

/** The client that waits for the answer to a callback. */
export interface CallbackClient {
  /** Whether it has closed the connection, and so will send the callback again. */
  isGone(): boolean
  /** Whether the callback has taken too long. */
  isLate(): boolean
}

/**
 * Handles a callback whose signature was verified. It is handled in parts, so that a large one does not block others.
 * When this returns, its statuses are durable. Only numbers that are set up with the signing app's secret are
 * considered: the owner of one app must not report on the messages of another.
 *
 * Returns undefined if the callback was not handled completely and must be sent again: when it took too long, or when
 * its client is gone and the rest has no statuses or replies. Those are still applied, because they are then known when
 * the callback arrives again.
 */
export async function handleCallback(
  deps: CallbackDeps,
  body: Buffer,
  secrets: AppSecrets,
  client: CallbackClient,
): Promise<CallbackResult | undefined> {
  if (client.isGone() || client.isLate()) return undefined
  const total: CallbackResult = { ...noCounts(), ignored: 0, replies: noCounts() }
  let isFirst = true
  let [senders, sendersOf]: [CallbackSender[], string] = [[], '']
  for (const part of readCallback(parseLeniently(body))) {
    // Yields between parts, because a run of parts without database access would block the event loop.
    if (!isFirst) await setImmediate()
    isFirst = false
    if (client.isLate() || (client.isGone() && part.statuses.length + countUserUpdates(part) === 0)) return undefined
    const ids = listSenderIds(part)
    // Consecutive parts usually name the same number.
    const key = JSON.stringify(ids)
    if (key !== sendersOf) [senders, sendersOf] = [await findSendersOfApp(deps, ids, secrets), key]
    const result = await applyPart(deps, part, senders)
    addTo(total, result)
    addTo(total.replies, result.replies)
    total.ignored += result.ignored
  }
  return total
}

function countUserUpdates({ replies, preferences, identityChanges }: Inbound): number {
  return replies.length + preferences.length + identityChanges.length
}

type SendersByNumber = ReadonlyMap<string, CallbackSender>

async function applyPart(deps: CallbackDeps, part: Inbound, senders: CallbackSender[]): Promise<CallbackResult> {
  const senderOf: SendersByNumber = new Map(senders.map((sender) => [sender.phoneNumberId, sender]))
  const { known, unknown } = splitStatuses(part.statuses, senderOf, deps.now())
  const ids = senders.map(({ whatsAppAccountId }) => whatsAppAccountId)
  const counts = await applyStatuses(deps, known)
  deps.recordCallbackTimes(ids, known.length > 0 ? 'statuses' : 'other')
  if (counts.unknown > 0) deps.noteMissing(listNamedMessages(part.statuses, senderOf))
  if (part.standby.length > 0) {
    const onStandby = senders.filter(({ phoneNumberId }) => part.standby.includes(phoneNumberId))
    deps.recordCallbackTimes(
      onStandby.map(({ whatsAppAccountId }) => whatsAppAccountId),
      'standby',
    )
  }
  if (part.errors.length > 0) deps.noteErrors(withSenders(part.errors, senderOf))
  // Most callbacks have only statuses. The others are applied after them, because a reply can refer to a wamid that only they
  // report.
  const replies = countUserUpdates(part) === 0 ? noCounts() : await applyUserPart(deps, part, senderOf)
  if (part.templates.length + part.accounts.length > 0) await applyUpdates(deps, part, senders)
  return { ...counts, unknown: counts.unknown + unknown, ignored: part.ignored, replies }
}

function withSenders(errors: ReportedError[], senderOf: SendersByNumber) {
  return errors.map((error) => ({
    ...error,
    whatsAppAccountId: senderOf.get(error.phoneNumberId)?.whatsAppAccountId,
  }))
}

async function applyUserPart(deps: CallbackDeps, part: Inbound, senderOf: SendersByNumber): Promise<ApplyCounts> {
  const { replies, preferences, identityChanges } = part
  const now = deps.now()
  const withAccount = <Item extends UserReply | UserPreferenceChange | IdentityChange>(item: Item) => {
    const { accountId, whatsAppAccountId, wabaId } = senderOf.get(item.phoneNumberId) ?? {}
    return accountId !== undefined && whatsAppAccountId !== undefined && wabaId !== undefined
      ? [{ ...item, at: readTime(item.at, now), accountId, whatsAppAccountId, wabaId }]
      : []
  }
  const known: UserUpdate[] = [
    // Other chat messages are ignored.
    ...replies.filter((reply) => reply.repliesTo !== undefined || isChoice(reply)).flatMap(withAccount),
    ...preferences.flatMap(withAccount),
    ...identityChanges.flatMap(withAccount),
  ]
  const counts = await applyUserUpdates(deps, known)
  return { ...counts, unknown: counts.unknown + countUserUpdates(part) - known.length }
}

function parseLeniently(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function listSenderIds(part: Inbound): SenderIds {
  const phoneNumberIds = new Set(part.standby)
  for (const items of [part.statuses, part.replies, part.preferences, part.identityChanges, part.errors])
    for (const { phoneNumberId } of items) phoneNumberIds.add(phoneNumberId)
  const ownerIds = new Set<string>()
  for (const { wabaId } of part.templates) ownerIds.add(wabaId)
  for (const { ownerId } of part.accounts) ownerIds.add(ownerId)
  return { phoneNumberIds: [...phoneNumberIds], ownerIds: [...ownerIds] }
}

function listNamedMessages(statuses: StatusUpdate[], senderOf: SendersByNumber) {
  return statuses.flatMap(({ phoneNumberId, callbackData: messageId }) => {
    const sender = senderOf.get(phoneNumberId)
    if (!sender || messageId === undefined || !messageIdPattern.test(messageId)) return []
    return [{ accountId: sender.accountId, whatsAppAccountId: sender.whatsAppAccountId, messageId }]
  })
}

/** Clocks differ by minutes. A time that is further ahead is a mistake, and would outlast every later report. */
const maxAheadMilliseconds = 365 * dayMilliseconds

/** When something happened; if WhatsApp gave no time that can be right, it happens as it arrives. */
function readTime(at: Date | undefined, now: Date): Date {
  return at !== undefined && at.getTime() < now.getTime() + maxAheadMilliseconds ? at : now
}

function splitStatuses(
  statuses: StatusUpdate[],
  senderOf: SendersByNumber,
  now: Date,
): { known: IncomingStatus[]; unknown: number } {
  const known = statuses.flatMap(({ phoneNumberId, callbackData, recipient, ...report }) => {
    const sender = senderOf.get(phoneNumberId)
    if (!sender) return []
    const { accountId, wabaId } = sender
    const messageId = callbackData !== undefined && messageIdPattern.test(callbackData) ? callbackData : undefined
    const timed = { ...report, at: readTime(report.at, now) }
    return [{ accountId, wabaId, messageId, waMessageId: report.waMessageId, recipient, report: timed }]
  })
  return { known, unknown: statuses.length - known.length }
}
