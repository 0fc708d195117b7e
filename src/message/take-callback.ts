import { applyAccountUpdate } from '../account/apply-account-update.ts'
import { findCallbackSenders, type CallbackSender } from '../account/callback-senders.ts'
import type { Deps } from '../deps.ts'
import { applyTemplateUpdate } from '../template/apply-template-update.ts'
import { readCallback, type Inbound, type StatusUpdate } from '../whatsapp/inbound.ts'
import { isSignedWith } from '../whatsapp/signature.ts'
import { takeStatuses, type StatusToTake, type TakenStatuses } from './take-statuses.ts'

const maxNames = 1000

export interface SignedCallback {
  /** The raw bytes: the signature is theirs. */
  body: Buffer
  /** Value of `X-Hub-Signature-256`. */
  signature: string
}

export interface TakenCallback extends TakenStatuses {
  ignored: number
}

/**
 * Takes a callback of Meta's; undefined when no app secret of ours signed it. When this returns, its
 * statuses are durable. An app speaks for the numbers that are set up with its secret, and for no
 * others: the owner of one app must not report on the messages of another.
 */
export async function takeCallback(
  deps: Pick<Deps, 'db' | 'secrets' | 'newId' | 'randomBytes' | 'log' | 'announcements'>,
  { body, signature }: SignedCallback,
  defaultAppSecret: string | undefined,
): Promise<TakenCallback | undefined> {
  const inbound = readCallback(parseLeniently(body))
  const names = listNames(inbound)
  // Meta sends up to a thousand updates at once; whoever names more is not Meta.
  if (names.phoneNumberIds.length + names.wabaIds.length > maxNames) return undefined
  const senders = await findCallbackSenders(deps, names, defaultAppSecret)
  const secrets = new Set(
    [defaultAppSecret, ...senders.map((sender) => sender.appSecret)].filter((secret) => secret !== undefined),
  )
  const signedWith = new Set([...secrets].filter((secret) => isSignedWith(body, signature, secret)))
  if (signedWith.size === 0) return undefined

  const spokenFor = senders.filter((sender) => sender.appSecret !== undefined && signedWith.has(sender.appSecret))
  const { known, unknown } = splitStatuses(inbound.statuses, spokenFor)
  const taken = await takeStatuses(deps, known)
  await applyUpdates(deps, inbound, spokenFor)
  return { ...taken, unknown: taken.unknown + unknown, ignored: inbound.ignored }
}

function parseLeniently(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function listNames({ statuses, templates, accounts }: Inbound): { phoneNumberIds: string[]; wabaIds: string[] } {
  return {
    phoneNumberIds: [...new Set(statuses.map((status) => status.phoneNumberId))],
    wabaIds: [...new Set([...templates, ...accounts].map((update) => update.wabaId))],
  }
}

const ourIdPattern = /^msg_[0-9a-z]{26}$/

function splitStatuses(
  statuses: StatusUpdate[],
  senders: CallbackSender[],
): { known: StatusToTake[]; unknown: number } {
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
