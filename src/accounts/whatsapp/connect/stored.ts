import type { ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import type { Deps } from '../../../deps.ts'
import type { MetaApp } from '../../../whatsapp/onboarding.ts'
import { findHealth, type HealthChanges, saveHealth } from '../health/store.ts'
import { describeUnreadableToken, openAccessToken, openAppSecret } from '../secrets.ts'
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
  return { row, problem: { ok: false, message: describeUnreadableToken(whatsAppAccountId), fix: 'Replace the token.' } }
}

/** What WhatsApp says about a stored token now. */
export interface InspectedToken {
  token: TokenFacts
  /** The app of the token with the secret to use for it; undefined if one of them is unknown. */
  app: MetaApp | undefined
}

/**
 * Asks WhatsApp about the token and its app. The stored app ID only says as which app to ask: it can be that of an
 * earlier token, and what is set at another app reports nothing about this number.
 */
export async function inspectStored(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks'>,
  stored: Stored,
): Promise<InspectedToken> {
  const { accessToken } = stored
  const appSecret = findAppSecret(deps, stored)
  const known = (await findHealth(deps.db, stored))?.app_id ?? undefined
  const asker = appSecret === undefined || known === undefined ? undefined : { appId: known, appSecret }
  const token = await readTokenFacts(deps, { accessToken, app: asker })
  const appId = token.info?.appId ?? known
  return { token, app: appSecret === undefined || appId === undefined ? undefined : { appId, appSecret } }
}

/** An account with a secret of its own has another app than the server: the server's secret would not match. */
export function findAppSecret(
  deps: Pick<Deps, 'secrets' | 'log' | 'callbacks'>,
  { accountId, whatsAppAccountId, row }: Pick<Stored, 'accountId' | 'whatsAppAccountId' | 'row'>,
): string | undefined {
  if (row.app_secret_encrypted === null) return deps.callbacks.appSecret
  return openAppSecret(deps, { accountId, whatsAppAccountId }, row)
}

/** Stores what WhatsApp said about a token, unless the token was replaced meanwhile. */
export async function saveForToken(
  { db }: Pick<Deps, 'db'>,
  { row, accountId, whatsAppAccountId }: Stored,
  changes: HealthChanges,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (await lockUnchanged(trx, row)) await saveHealth(trx, { accountId, whatsAppAccountId }, changes)
  })
}
