import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { dayMilliseconds } from '../../contracts/time.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { deactivateRefused } from '../whatsapp-accounts/change.ts'
import type { Deps } from '../deps.ts'
import { explainFailure } from '../whatsapp/failure-advice.ts'
import type { MediaOutcome, Sender } from '../whatsapp/whatsapp.ts'
import {
  claimUpload,
  deleteWhatsAppMediaIdsUntil,
  recordUploaded,
  releaseClaim,
  renewClaim,
  type UploadKey,
} from './whatsapp-media-ids-store.ts'
import { StoreUnavailableError } from './object-store.ts'
import { extensionOf } from './types.ts'

/** The WhatsApp account that sends a file. */
export interface MediaSender extends Sender {
  accountId: string
  whatsAppAccountId: string
  accessTokenEncrypted: string
}

/** A file that can be read again. */
export interface MediaSource {
  sha256: string
  type: string
  size: number
  open(): Promise<Readable>
}

/**
 * WhatsApp keeps an uploaded file for 30 days (reference 2, section 4). One day less, because WhatsApp can hold a
 * message back.
 */
const lifetimeMilliseconds = 29 * dayMilliseconds
/** After this time, another process uploads a file whose process was killed. A process renews its claims in time. */
const defaultClaimMilliseconds = 30_000
const renewalsPerClaim = 3
/** Twice as long as an upload takes, including the wait for a connection. */
const maxWaitMilliseconds = 300_000
const pollMilliseconds = 250
/** WhatsApp does not delete a file this soon, so a rejection must have another cause. */
const trustedMilliseconds = 10 * 60_000

type UploadDeps = Pick<Deps, 'db' | 'whatsapp' | 'now' | 'randomBytes' | 'media' | 'log'>

/** Returns WhatsApp's ID of a file for a phone number, and uploads the file if there is none. */
export function ensureWhatsAppMediaId(deps: UploadDeps, sender: MediaSender, source: MediaSource): Promise<string> {
  const key = JSON.stringify([sender.accountId, sender.phoneNumberId, source.sha256, source.type])
  const { running } = deps.media
  const upload = running.get(key)
  if (upload) return upload
  const started = uploadOnce(deps, sender, source).finally(() => running.delete(key))
  running.set(key, started)
  return started
}

/** The claim in the database keeps other processes from uploading the same file at the same time. */
async function uploadOnce(deps: UploadDeps, sender: MediaSender, source: MediaSource): Promise<string> {
  const { accountId, phoneNumberId } = sender
  const key: UploadKey = { accountId, phoneNumberId, sha256: source.sha256, type: source.type }
  const claimant = Buffer.from(deps.randomBytes(16)).toString('hex')
  const giveUpAt = deps.now().getTime() + maxWaitMilliseconds
  for (;;) {
    const now = deps.now()
    const claim = await claimUpload(deps.db, key, { claimant, now, until: endOfClaim(deps) })
    if (claim.kind === 'uploaded') return claim.waMediaId
    if (claim.kind === 'claimed') return uploadClaimed(deps, { sender, source, key, claimant })
    if (now.getTime() > giveUpAt) throw unavailable('another upload of this file takes too long')
    await sleep(pollMilliseconds)
  }
}

/** Deletes IDs that WhatsApp may no longer know. Recent ones are kept. */
export async function deleteRejectedWhatsAppMediaIds(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  waMediaIds: readonly string[],
): Promise<void> {
  const expiresUntil = new Date(deps.now().getTime() - trustedMilliseconds + lifetimeMilliseconds)
  await deleteWhatsAppMediaIdsUntil(deps.db, { accountId, waMediaIds, expiresUntil })
}

interface ClaimedUpload {
  sender: MediaSender
  source: MediaSource
  key: UploadKey
  claimant: string
}

function endOfClaim({ now, media }: UploadDeps): Date {
  return new Date(now().getTime() + (media.limits.claimMilliseconds ?? defaultClaimMilliseconds))
}

async function uploadClaimed(deps: UploadDeps, { sender, source, key, claimant }: ClaimedUpload): Promise<string> {
  const { claimMilliseconds = defaultClaimMilliseconds } = deps.media.limits
  let renewalFailed = false
  // If this fails, another process may upload the file too, which does no harm.
  const renew = () =>
    renewClaim(deps.db, key, { claimant, until: endOfClaim(deps) }).catch((failure: unknown) => {
      if (!renewalFailed)
        deps.log.warn({ err: failure, accountId: key.accountId }, 'could not renew the claim of a file upload')
      renewalFailed = true
    })
  const renewals = setInterval(() => void renew(), claimMilliseconds / renewalsPerClaim).unref()
  try {
    const { type, size } = source
    const body = await source.open()
    let readFailure: Error | undefined
    body.once('error', (error) => {
      readFailure = error
    })
    const outcome = await deps.whatsapp.uploadMedia(sender, {
      type,
      size,
      filename: `file.${extensionOf(type)}`,
      body,
    })
    if (outcome.kind === 'unavailable' && readFailure !== undefined)
      throw readFailure instanceof ServiceError ? readFailure : new StoreUnavailableError(readFailure)
    if (outcome.kind !== 'uploaded') throw await interpretFailure(deps, sender, outcome)
    const expiresAt = new Date(deps.now().getTime() + lifetimeMilliseconds)
    const { waMediaId } = outcome
    if (!(await recordUploaded(deps.db, key, { waMediaId, expiresAt }))) throw await undoUpload(deps, sender, waMediaId)
    return waMediaId
  } catch (error) {
    await releaseClaim(deps.db, key, claimant).catch((failure: unknown) =>
      deps.log.warn({ err: failure, accountId: key.accountId }, 'could not release the claim of a file upload'),
    )
    throw error
  } finally {
    clearInterval(renewals)
  }
}

/** For a file that was deleted while it was uploaded: nothing else would delete it at WhatsApp. */
async function undoUpload(
  { whatsapp, log }: UploadDeps,
  sender: MediaSender,
  waMediaId: string,
): Promise<ServiceError> {
  if (!(await whatsapp.deleteMedia(sender, waMediaId))) logUndeleted(log, sender)
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The file was deleted while it was uploaded to WhatsApp. Nothing was sent. Try again.',
    { retryAfterSeconds: 1 },
  )
}

/** WhatsApp deletes files by itself after 30 days, so this is not an error. */
export function logUndeleted(
  log: Deps['log'],
  { accountId, whatsAppAccountId }: Pick<MediaSender, 'accountId' | 'whatsAppAccountId'>,
): void {
  log.info({ accountId, whatsAppAccountId }, 'WhatsApp did not delete a file; it does so within 30 days')
}

async function interpretFailure(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId, accessTokenEncrypted }: MediaSender,
  outcome: Exclude<MediaOutcome, { kind: 'uploaded' }>,
): Promise<ServiceError> {
  if (outcome.kind === 'unavailable') return unavailable(outcome.reason)
  const { errorCode, error, retryAfterSeconds } = outcome
  const reason = error.details ?? error.title
  if (outcome.accountUnusable)
    await deactivateRefused(deps, { accountId, id: whatsAppAccountId, accessTokenEncrypted }, error)
  const failureCode = String(error.code)
  const explained = explainFailure(failureCode, reason)
  switch (errorCode) {
    case 'NO_ACTIVE_ACCOUNT':
      return new ServiceError(
        errorCode,
        `WhatsApp does not let this WhatsApp account upload files (${error.code}): ${explained} Nothing was sent.`,
        { failureCode },
      )
    case 'WHATSAPP_THROTTLED':
    case 'WHATSAPP_UNAVAILABLE':
      return unavailable(`it responded with error ${error.code}`, retryAfterSeconds)
    case 'TEMPLATE_NOT_FOUND':
    case 'MESSAGE_REJECTED':
      // The advice of these codes is about messages.
      return new ServiceError('MEDIA_REJECTED', `WhatsApp rejected this file (${error.code}): ${withPeriod(reason)}`, {
        failureCode,
      })
  }
}

function withPeriod(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

export function unavailable(reason: string, retryAfterSeconds = 5): ServiceError {
  return new ServiceError('WHATSAPP_UNAVAILABLE', `WhatsApp is unavailable: ${reason}. Nothing was sent.`, {
    retryAfterSeconds,
  })
}
