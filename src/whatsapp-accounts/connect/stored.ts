import type { ConnectStep } from '../../../contracts/dashboard/connect.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import type { MetaApp } from '../../whatsapp/onboarding.ts'
import { findHealth, type HealthChanges, saveHealth } from '../health/store.ts'
import { unreadableToken, openAccessToken, openAppSecret } from '../secrets.ts'
import { findWhatsAppAccount, lockUnchanged, type WhatsAppAccountRow, type WhatsAppAccountRef } from '../store.ts'
import { requireWhatsAppAccount } from '../whatsapp-account.ts'
import { readTokenFacts, type TokenFacts } from './token.ts'

/** A stored account with its decrypted token. */
export interface Stored extends WhatsAppAccountRef {
  row: WhatsAppAccountRow
  accessToken: string
}

/** Reads an account and decrypts its token. */
export async function openStored(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<Stored | { problem: ConnectStep; row: WhatsAppAccountRow }> {
  const found = await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId)
  const row = requireWhatsAppAccount(found, whatsAppAccountId)
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId }, row.access_token_encrypted)
  if (accessToken !== undefined) return { accountId, whatsAppAccountId, row, accessToken }
  const problem = { message: unreadableToken(whatsAppAccountId), fix: connectFacts.replaceToken() }
  return { row, problem: { ok: false, ...withFacts(problem) } }
}

/** The current state of a stored token according to WhatsApp. */
export interface InspectedToken {
  token: TokenFacts
  /** The app of the token with the secret to use for it; undefined if one of them is unknown. */
  app: MetaApp | undefined
}

/**
 * Inspects the token and determines its app. The stored app ID only authenticates the inspection: it may belong to an
 * earlier token, and the settings of another app say nothing about this number.
 */
export async function inspectStored(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks'>,
  stored: Stored,
): Promise<InspectedToken> {
  const { accessToken } = stored
  const appSecret = findAppSecret(deps, stored)
  const known = (await findHealth(deps.db, stored))?.app_id ?? undefined
  const knownApp = appSecret === undefined || known === undefined ? undefined : { appId: known, appSecret }
  const token = await readTokenFacts(deps, { accessToken, app: knownApp })
  const appId = token.info?.appId ?? known
  return { token, app: appSecret === undefined || appId === undefined ? undefined : { appId, appSecret } }
}

/** An account with its own app secret uses another app than the server, so the server's secret would not match. */
export function findAppSecret(
  deps: Pick<Deps, 'secrets' | 'log' | 'callbacks'>,
  { accountId, whatsAppAccountId, row }: Pick<Stored, 'accountId' | 'whatsAppAccountId' | 'row'>,
): string | undefined {
  if (row.app_secret_encrypted === null) return deps.callbacks.appSecret
  return openAppSecret(deps, { accountId, whatsAppAccountId }, row)
}

/** Stores the result of a check, unless the token was replaced in the meantime. */
export async function saveForToken(
  { db }: Pick<Deps, 'db'>,
  { row, accountId, whatsAppAccountId }: Stored,
  changes: HealthChanges,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (await lockUnchanged(trx, row)) await saveHealth(trx, { accountId, whatsAppAccountId }, changes)
  })
}
