import { setImmediate } from 'node:timers/promises'
import { dayMilliseconds } from '../../contracts/time.ts'
import type { Deps } from '../deps.ts'
import type { TracedItem } from '../platform/db/traced.ts'
import {
  changeTemplates,
  type ReportedTemplatePatch,
  type TemplatePatch,
  toTemplatePatch,
} from '../templates/apply-update.ts'
import {
  type AccountChange,
  changeAccounts,
  mergeAccountChanges,
  type ReportedChange,
  scheduleChecks,
  scheduleSyncs,
  toAccountChange,
} from '../whatsapp-accounts/account-changes.ts'
import { type CallbackSender, findCallbackSenders, type SenderIds } from '../whatsapp-accounts/callback-senders.ts'
import type { RecordCallbackTimes } from '../whatsapp-accounts/health/callback-times.ts'
import { applyReports } from '../whatsapp-accounts/health/store.ts'
import type { ReportedAccount } from '../whatsapp/callbacks/read-account.ts'
import {
  type Inbound,
  readCallback,
  type ReportedError,
  type StatusUpdate,
  type TemplateUpdate,
} from '../whatsapp/callbacks/read-callback.ts'
import type { IdentityChange } from '../whatsapp/callbacks/read-identity.ts'
import type { UserPreferenceChange, UserReply } from '../whatsapp/callbacks/read-reply.ts'
import { addTo, type ApplyDeps, batchedByAccount, noCounts, type ApplyCounts } from './batched-by-account.ts'
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

export interface AppSecrets {
  /** Secret of the app that signed the callback. */
  signer: string
  /** Secret for numbers without one of their own. */
  default: string | undefined
}

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
  const findSenders = memoizeLast((ids: SenderIds) => findSendersOfApp(deps, ids, secrets))
  const total: CallbackResult = { ...noCounts(), ignored: 0, replies: noCounts() }
  let isFirst = true
  for (const part of readCallback(parseLeniently(body))) {
    // Yields between parts, because a run of parts without database access would block the event loop.
    if (!isFirst) await setImmediate()
    isFirst = false
    if (client.isLate() || (client.isGone() && part.statuses.length + countUserUpdates(part) === 0)) return undefined
    const result = await applyPart(deps, part, await findSenders(listSenderIds(part)))
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
  // After the statuses, because a reply can refer to a wamid that only they report.
  const replies = await applyUserPart(deps, part, senderOf)
  await applyUpdates(deps, part, senders)
  return { ...counts, unknown: counts.unknown + unknown, ignored: part.ignored, replies }
}

function withSenders(errors: ReportedError[], senderOf: SendersByNumber) {
  return errors.map((error) => ({
    ...error,
    whatsAppAccountId: senderOf.get(error.phoneNumberId)?.whatsAppAccountId,
  }))
}

async function applyUserPart(deps: CallbackDeps, part: Inbound, senderOf: SendersByNumber): Promise<ApplyCounts> {
  const items = countUserUpdates(part)
  if (items === 0) return noCounts()
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
  return { ...counts, unknown: counts.unknown + items - known.length }
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

/** A change of a template, or of a WhatsApp account. */
type IncomingChange = TracedItem & (ReportedTemplatePatch | (ReportedChange & { wabaId: string }))

type UpdateDeps = ApplyDeps & Pick<Deps, 'log' | 'now'>

const applyChanges = batchedByAccount<IncomingChange, UpdateDeps>({ name: 'apply_updates', run: applyAll })

/**
 * Applies what WhatsApp reported about templates and WhatsApp Business Accounts. Updates of one template or account are
 * merged first, so a callback that repeats them costs no more than one that does not. Repeating all of it is safe.
 */
async function applyUpdates(
  deps: UpdateDeps,
  updates: { templates: TemplateUpdate[]; accounts: ReportedAccount[] },
  senders: readonly CallbackSender[],
): Promise<void> {
  if (updates.templates.length + updates.accounts.length === 0) return
  const ofWaba = Map.groupBy(senders, ({ wabaId }) => wabaId)
  const isKnown = ({ wabaId }: TemplateUpdate) => ofWaba.has(wabaId)
  const templates = mergeTemplates(updates.templates.filter(isKnown).map(toTemplatePatch))
  const changes: IncomingChange[] = [
    ...templates.flatMap((template) =>
      accountsOf(ofWaba.get(template.wabaId) ?? []).map((accountId) => ({ accountId, template })),
    ),
    ...senders.flatMap((sender) => toReportedChange(sender, updates.accounts)),
  ]
  if (changes.length > 0) await applyChanges(deps, changes)
}

function accountsOf(senders: readonly CallbackSender[]): string[] {
  return [...new Set(senders.map(({ accountId }) => accountId))]
}

function mergeTemplates(changes: readonly TemplatePatch[]): TemplatePatch[] {
  const merged = new Map<string, TemplatePatch>()
  for (const change of changes) {
    const key = JSON.stringify([change.wabaId, change.name, change.language])
    merged.set(key, { ...merged.get(key), ...change })
  }
  return [...merged.values()]
}

function toReportedChange(sender: CallbackSender, updates: readonly ReportedAccount[]) {
  let change: AccountChange | undefined
  for (const update of updates) {
    const own = toOwnChange(sender, update)
    if (own) change = mergeAccountChanges(change, own)
  }
  const { accountId, whatsAppAccountId, wabaId } = sender
  return change ? [{ accountId, whatsAppAccountId, wabaId, change }] : []
}

/** Returns undefined if the update is about other numbers. */
function toOwnChange(sender: CallbackSender, update: ReportedAccount): AccountChange | undefined {
  const { ownerId, number } = update
  const isOfPortfolio = ownerId !== sender.wabaId
  if (isOfPortfolio && ownerId !== sender.portfolioId) return undefined
  if (number && !isAbout(sender, number)) return undefined
  // The account that was removed is not named then. The check that follows finds out whether it is this one.
  if (isOfPortfolio && update.change === 'disabled') return toAccountChange({ ...update, change: 'recheck' })
  return toAccountChange(update)
}

function isAbout(sender: CallbackSender, number: NonNullable<ReportedAccount['number']>): boolean {
  if ('phoneNumberId' in number) return number.phoneNumberId === sender.phoneNumberId
  // Before its first check, it is not known how WhatsApp shows the number.
  return sender.displayDigits === undefined || number.displayDigits === sender.displayDigits
}

async function applyAll(deps: UpdateDeps, callbacks: readonly (readonly IncomingChange[])[]): Promise<ApplyCounts[]> {
  const changes = callbacks.flat()
  const ofAccounts = changes.filter((change) => 'whatsAppAccountId' in change)
  const ofTemplates = changes.filter((change) => 'template' in change)
  await changeTemplates(deps.db, mergeOfTemplates(ofTemplates))
  const accounts = mergeOfAccounts(ofAccounts)
  const disabled = await changeAccounts(deps.db, accounts)
  for (const { reason, ...ref } of disabled) deps.log.warn({ ...ref, reason }, 'WhatsApp disabled a business account')
  await applyReports(deps, accounts)
  const wabas = [
    ...ofTemplates.map(({ accountId, template }) => ({ accountId, wabaId: template.wabaId })),
    ...ofAccounts.map(({ accountId, wabaId }) => ({ accountId, wabaId })),
  ]
  await scheduleSyncs(
    deps.db,
    dedupe(wabas, ({ accountId, wabaId }) => `${accountId} ${wabaId}`),
  )
  await scheduleChecks(
    deps.db,
    dedupe(ofAccounts, ({ whatsAppAccountId }) => whatsAppAccountId),
  )
  return callbacks.map(noCounts)
}

function mergeOfTemplates(changes: readonly ReportedTemplatePatch[]): ReportedTemplatePatch[] {
  const byAccount = Map.groupBy(changes, ({ accountId }) => accountId)
  return Array.from(byAccount, ([accountId, own]) =>
    mergeTemplates(own.map(({ template }) => template)).map((template) => ({ accountId, template })),
  ).flat()
}

function mergeOfAccounts(changes: readonly ReportedChange[]): ReportedChange[] {
  const merged = new Map<string, ReportedChange>()
  for (const { accountId, whatsAppAccountId, change } of changes)
    merged.set(whatsAppAccountId, {
      accountId,
      whatsAppAccountId,
      change: mergeAccountChanges(merged.get(whatsAppAccountId)?.change, change),
    })
  return [...merged.values()]
}

function dedupe<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}
