import type { SendMessageRequest, SentMessage } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import { mayHaveCommitted } from '../../platform/db/errors.ts'
import { changeTemplate } from '../../templates/store.ts'
import { syncWaba } from '../../templates/sync.ts'
import { scheduleCheckAfterRefusal } from '../../whatsapp-accounts/health/store.ts'
import { deactivateRefused } from '../../whatsapp-accounts/change.ts'
import type { SendOutcome } from '../../whatsapp/whatsapp.ts'
import type { PendingMessage, RecordedMessage } from '../message.ts'
import { optedOutCode, suppressRejected } from '../suppressions/recipient-choices.ts'
import type { SendingAccount } from './decide.ts'
import { findEarlierRequest } from './idempotency-store.ts'
import { fingerprintRequest, type EarlierRequest, type IdempotentRequest, replay } from './idempotency.ts'
import { deleteRejectedMediaIds } from './media.ts'
import { interpretOutcome, type SendResult } from './outcome.ts'
import { prepare, type Prepared, type SendCaller } from './prepare.ts'
import { recordPending } from './record-store.ts'
import { toSentMessage } from './responses.ts'
import { settle, settleNeverDispatched } from './settle.ts'

/**
 * The message is recorded before it is sent to WhatsApp, so that a process that dies in between
 * leaves a row that the status webhook, which carries our ID, can still settle.
 */
export async function send(
  deps: Deps,
  caller: SendCaller,
  input: SendMessageRequest,
  idempotencyKey?: string,
): Promise<SentMessage> {
  const request = idempotencyKey === undefined ? undefined : fingerprintRequest(idempotencyKey, input, deps.secrets)
  const earlier = request && (await findEarlierRequest(deps.db, caller.accountId, request.key))
  if (request && earlier) return replayTo(caller, earlier, request)

  const prepared = await prepare(deps, caller, input)
  const { message } = prepared
  const recorded = await record(deps, caller, message, request)
  if (!recorded) return replayConcurrent(deps, caller, request)

  const result = await dispatch(deps, caller, prepared, request)
  if (result.kind !== 'sent') throw result.error
  return toSentMessage(message, result.waMessageId)
}

/**
 * Returns false if another request holds the idempotency key. If it throws, the message is not sent to WhatsApp, even
 * if the insert turns out to have been committed.
 */
export function record(
  deps: Deps,
  caller: SendCaller,
  message: PendingMessage,
  request: IdempotentRequest | undefined,
): Promise<boolean> {
  return recordPending(deps.db, { message, request, journal: deps.sendJournal }).then(
    (recorded) => {
      if (recorded) caller.onMessage?.(message.id)
      else deps.sendJournal.settled(message.id)
      return recorded
    },
    async (error: unknown) => {
      // After any other error, it is certain that nothing was recorded.
      if (mayHaveCommitted(error)) await settleNeverDispatched(deps, message, request)
      else deps.sendJournal.settled(message.id)
      throw error
    },
  )
}

/** Another request claimed the key between our lookup and our insert. */
async function replayConcurrent(
  deps: Deps,
  caller: SendCaller,
  request: IdempotentRequest | undefined,
): Promise<SentMessage> {
  const earlier = request && (await findEarlierRequest(deps.db, caller.accountId, request.key))
  if (!request || !earlier) throw keyInUse()
  return replayTo(caller, earlier, request)
}

function replayTo(caller: SendCaller, earlier: EarlierRequest, request: IdempotentRequest): SentMessage {
  caller.onMessage?.(earlier.message.id)
  const message = replay(earlier, request)
  caller.onReplay?.()
  return message
}

export function keyInUse(): ServiceError {
  return new ServiceError(
    'IDEMPOTENCY_KEY_IN_USE',
    'Another request with this Idempotency-Key is about to finish. Try again in a moment.',
    { retryAfterSeconds: 1 },
  )
}

/** Sends a recorded message to WhatsApp and stores the outcome. */
export async function dispatch(
  deps: Deps,
  { slot }: SendCaller,
  { message, from, filled, route, accessToken }: Prepared,
  request: IdempotentRequest | undefined,
): Promise<SendResult> {
  const { to, template: name, language } = message
  // The request does not count towards the limit of concurrent ones while it waits for WhatsApp.
  slot?.pause()
  const outcome = await deps.whatsapp.sendTemplate(
    { phoneNumberId: from.phoneNumberId, accessToken, messagingAccountId: from.messagingAccountId },
    {
      to,
      name,
      language,
      ...filled,
      route,
      callbackData: message.id,
      beforeWrite: () => deps.sendJournal.writing(message.id),
    },
  )
  slot?.resume()
  const result = interpretOutcome(message.id, outcome)
  await settle(deps, message, result, request)
  if (outcome.reroutedAfter !== undefined) await refreshRoute(deps, message, from, outcome.reroutedAfter)
  if (outcome.kind === 'refused') await applyRefusal(deps, { message, from, filled }, outcome)
  return result
}

type Refusal = Extract<SendOutcome, { kind: 'refused' }>

/**
 * Stores that WhatsApp rejected the account, the template or the recipient, so that Waybill rejects the next send
 * itself, with the reason. Logs its own failures instead of throwing, because the send already has its result.
 */
async function applyRefusal(
  deps: Deps,
  { message, from, filled }: Pick<Prepared, 'message' | 'from' | 'filled'>,
  outcome: Refusal,
): Promise<void> {
  try {
    if (outcome.accountUnusable)
      await deactivateRefused(
        deps,
        { accountId: message.accountId, id: from.id, accessTokenEncrypted: from.accessTokenEncrypted },
        outcome.error,
      )
    if (outcome.checkAccount)
      await scheduleCheckAfterRefusal(deps.db, { accountId: message.accountId, whatsAppAccountId: from.id })
    if (String(outcome.error.code) === optedOutCode) await suppressRejected(deps, message, deps.now())
    if (outcome.template === 'resync') resync(deps, message.accountId, from.wabaId)
    else if (outcome.template !== undefined)
      await changeTemplate(
        deps.db,
        { accountId: message.accountId, wabaId: from.wabaId, name: message.template, language: message.language },
        { status: outcome.template },
      )
    await deleteRejectedMediaIds(deps, message.accountId, filled, outcome)
  } catch (error) {
    deps.log.warn({ err: error, accountId: message.accountId }, 'could not store the cause of a rejection by WhatsApp')
  }
}

/** Either the category of the template or the onboarding of the account has changed, and the next send should know it. */
async function refreshRoute(
  deps: Deps,
  { accountId, id }: RecordedMessage,
  { id: whatsAppAccountId, wabaId }: SendingAccount,
  code: number,
): Promise<void> {
  deps.log.info({ messageId: id, code }, 'WhatsApp rejected the endpoint of a template, so the other one was used')
  resync(deps, accountId, wabaId)
  await scheduleCheckAfterRefusal(deps.db, { accountId, whatsAppAccountId }).catch((error: unknown) =>
    deps.log.warn({ err: error, accountId }, 'could not schedule a check of a WhatsApp account'),
  )
}

const millisecondsBetweenResyncs = 5 * 60_000
const maxRemembered = 10_000
/** When the last one started, by account and WABA, in milliseconds of `performance.now()`. */
const resyncs = new BoundedMap<string, number>(maxRemembered)

/**
 * Runs in the background. WhatsApp rejects a message for the same reason until its caller or its template is corrected, and
 * allows a WABA 200 management calls per hour.
 */
function resync(deps: Deps, accountId: string, wabaId: string): void {
  const key = `${accountId} ${wabaId}`
  const now = performance.now()
  if (now - (resyncs.get(key) ?? -Infinity) < millisecondsBetweenResyncs) return
  resyncs.set(key, now)
  syncWaba(deps, accountId, wabaId).catch((error: unknown) =>
    deps.log.warn({ err: error, accountId }, 'could not sync the templates'),
  )
}
