import type { ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import type { Deps } from '../../../deps.ts'
import type { MetaApp } from '../../../whatsapp/onboarding.ts'
import { findHealth, type HealthOwner, saveHealth } from '../health/store.ts'
import { describeUnreadableToken, openAccessToken, openAppSecret } from '../secrets.ts'
import { findWhatsAppAccount, type WhatsAppAccountRow } from '../store.ts'
import { requireWhatsAppAccount } from '../whatsapp-account.ts'
import { readTokenFacts } from './token.ts'

/** A stored account with its decrypted token. */
export interface Stored extends HealthOwner {
  row: WhatsAppAccountRow
  accessToken: string
}

/** Reads an account and decrypts its token. */
export async function openStored(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { accountId, whatsAppAccountId }: HealthOwner,
): Promise<Stored | { problem: ConnectStep; row: WhatsAppAccountRow }> {
  const found = await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId)
  const row = requireWhatsAppAccount(found, whatsAppAccountId)
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId }, row.access_token_encrypted)
  if (accessToken !== undefined) return { accountId, whatsAppAccountId, row, accessToken }
  return { row, problem: { ok: false, message: describeUnreadableToken(whatsAppAccountId), fix: 'Replace the token.' } }
}

/** The app of the token with its secret; undefined if one of them is unknown. */
export async function findApp(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks'>,
  { row, accessToken, ...owner }: Stored,
): Promise<MetaApp | undefined> {
  const appSecret = openAppSecret(deps, owner, row) ?? deps.callbacks.appSecret
  if (appSecret === undefined) return undefined
  const known = (await findHealth(deps.db, owner))?.app_id
  if (known !== undefined && known !== null) return { appId: known, appSecret }
  const { info, columns } = await readTokenFacts(deps, { accessToken })
  await saveHealth(deps.db, owner, columns)
  return info?.appId === undefined ? undefined : { appId: info.appId, appSecret }
}
