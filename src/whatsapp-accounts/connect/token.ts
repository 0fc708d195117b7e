import type { ConnectableAccount, ConnectStep, TokenReport } from '../../../contracts/dashboard/connect.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { type Fact, type Sentence, withFacts } from '../../../contracts/facts/fact.ts'
import { findings } from '../../../contracts/facts/findings.ts'
import type { Deps } from '../../deps.ts'
import type { MetaApp, NumberDetails, TokenInfo } from '../../whatsapp/onboarding.ts'
import { readEach, type ReadOutcome } from '../../whatsapp/read-outcome.ts'
import { daysUntil, inDays } from '../health/findings.ts'
import { findHealth, type HealthChanges, saveHealth, toProblemColumns } from '../health/store.ts'
import { openAccessToken, openAppSecret, unreadableToken } from '../secrets.ts'
import { findWhatsAppAccount, lockUnchanged, type WhatsAppAccountRef, type WhatsAppAccountRow } from '../store.ts'
import { requireWhatsAppAccount } from '../whatsapp-account.ts'
import { explainReadFailure } from './advice.ts'

/** Permissions that a token needs (reference 2, section 5.1). */
const requiredPermissions = ['whatsapp_business_messaging', 'whatsapp_business_management'] as const

function listMissingPermissions({ scopes }: Pick<TokenInfo, 'scopes'>): string[] {
  return requiredPermissions.filter((permission) => !scopes.includes(permission))
}

/** Checks a token that is not stored, and lists the numbers that it may use. */
export async function inspectToken(
  { whatsapp, now }: Pick<Deps, 'whatsapp' | 'now'>,
  accessToken: string,
): Promise<TokenReport> {
  const inspected = await whatsapp.inspectToken({ accessToken })
  if (!inspected.ok)
    return {
      valid: false,
      ...withFacts({ ...explainReadFailure(inspected) }),
      permissions: [],
      missing: [],
      accounts: [],
    }
  const token = inspected.value
  const { message, fix, ...report } = describeToken(token, now())
  const described = { ...report, ...withFacts({ message, ...(fix && { fix }) }) }
  if (!report.valid || report.missing.includes('whatsapp_business_management')) return { ...described, accounts: [] }
  const accounts = await listConnectable({ whatsapp }, accessToken, token)
  if (!accounts.ok) return { ...described, ...withFacts({ ...explainReadFailure(accounts) }), accounts: [] }
  if (accounts.value.some(({ numbers }) => numbers.length > 0)) return { ...described, accounts: accounts.value }
  const { noNumber } = connectFacts.token
  return {
    ...described,
    ...withFacts({ message: noNumber.message({ message }), fix: noNumber.fix() }),
    accounts: accounts.value,
  }
}

interface DescribedToken extends Omit<TokenReport, 'accounts' | 'facts' | 'message' | 'fix'> {
  message: Fact
  fix?: Sentence
}

function describeToken(token: TokenInfo, now: Date): DescribedToken {
  const { invalid, invalidBecause, newToken, lacksPermission, permissionFix } = connectFacts.token
  const missing = listMissingPermissions(token)
  const known = {
    permissions: token.scopes,
    missing,
    ...(token.appId !== undefined && { appId: token.appId }),
    ...(token.appName !== undefined && { appName: token.appName }),
    ...(token.expiresAt instanceof Date && { expiresAt: token.expiresAt.toISOString() }),
  }
  if (!token.valid) {
    const message = token.reason === undefined ? invalid() : invalidBecause({ reason: token.reason })
    return { valid: false, ...known, message, fix: newToken() }
  }
  const message = describeValidToken(token, now)
  if (missing.length === 0) return { valid: true, ...known, message }
  const lacking = lacksPermission({ message, permissions: missing.join(' and ') })
  return { valid: true, ...known, message: lacking, fix: permissionFix() }
}

function describeValidToken({ appName, expiresAt }: TokenInfo, now: Date): Fact {
  const { valid, validForApp } = connectFacts.token
  const expiry = describeExpiry(expiresAt, now)
  return appName === undefined ? valid({ expiry }) : validForApp({ appName, expiry })
}

function describeExpiry(expiresAt: TokenInfo['expiresAt'], now: Date): Fact {
  const { noExpiry, unknownExpiry, expiry } = connectFacts.token
  if (expiresAt === undefined) return unknownExpiry()
  if (expiresAt === 'never') return noExpiry()
  return expiry({ when: inDays(Math.max(0, daysUntil(expiresAt, now))), date: expiresAt.toISOString().slice(0, 10) })
}

async function listConnectable(
  { whatsapp }: Pick<Deps, 'whatsapp'>,
  accessToken: string,
  { wabaIds }: TokenInfo,
): Promise<ReadOutcome<ConnectableAccount[]>> {
  const accounts = await whatsapp.listBusinessAccounts({ accessToken, wabaIds })
  if (!accounts.ok) return accounts
  const readNumbers = async (account: (typeof accounts.value)[number]): Promise<ReadOutcome<ConnectableAccount>> => {
    const numbers = await whatsapp.listPhoneNumbers({ wabaId: account.wabaId, accessToken })
    return numbers.ok ? { ok: true, value: { ...account, numbers: numbers.value.map(toConnectableNumber) } } : numbers
  }
  return readEach(accounts.value, readNumbers, ({ numbers }) => numbers.length > 0)
}

function toConnectableNumber(number: NumberDetails): ConnectableAccount['numbers'][number] {
  const { phoneNumberId, displayPhoneNumber, verifiedName, status, qualityRating, onBusinessApp } = number
  return {
    phoneNumberId,
    ...(displayPhoneNumber !== undefined && { displayPhoneNumber }),
    ...(verifiedName !== undefined && { verifiedName }),
    ...(status !== undefined && { status }),
    ...(qualityRating !== undefined && { qualityRating }),
    ...(onBusinessApp && { onBusinessApp }),
  }
}

type TokenColumns = Pick<
  HealthChanges,
  'appId' | 'tokenCheckedAt' | 'tokenExpiresAt' | 'tokenProblem' | 'tokenProblemFact' | 'missingPermissions'
>

/** If WhatsApp does not say it, the known time stays: as null, it would never be announced, and never refreshed. */
function toExpiryColumn({ expiresAt }: TokenInfo): Pick<TokenColumns, 'tokenExpiresAt'> {
  return expiresAt === undefined ? {} : { tokenExpiresAt: expiresAt === 'never' ? null : expiresAt }
}

interface TokenFacts {
  info: TokenInfo | undefined
  columns: TokenColumns
  /** Whether the app that made the inspection is not the app of the token, or its secret is wrong. */
  appMismatch: boolean
}

/**
 * Reads the facts about a token that are stored with its account. A failed inspection says nothing about the token. An
 * app can inspect an expired token, which the token itself cannot. If the app is rejected or reports the token as
 * invalid, the token inspects itself, because the stored app may be that of an earlier token, or the secret that of
 * another app.
 */
export async function readTokenFacts(
  { whatsapp, now }: Pick<Deps, 'whatsapp' | 'now'>,
  { accessToken, app }: { accessToken: string; app?: MetaApp | undefined },
): Promise<TokenFacts> {
  const inspected = await whatsapp.inspectToken({ accessToken, app })
  if (!app || (inspected.ok ? inspected.value.valid : inspected.error?.code !== 190))
    return { ...toFacts(inspected, now()), appMismatch: false }
  const selfInspected = await whatsapp.inspectToken({ accessToken })
  const isOtherApp =
    selfInspected.ok && selfInspected.value.appId !== undefined && selfInspected.value.appId !== app.appId
  // A rejected app token means a wrong secret, unless the token belongs to another app. An accepted app token means a
  // mismatch only if the token belongs to another app.
  const appMismatch = inspected.ok ? isOtherApp : !isOtherApp
  return { ...toFacts(inspected.ok && !selfInspected.ok ? inspected : selfInspected, now()), appMismatch }
}

function toFacts(inspected: ReadOutcome<TokenInfo>, now: Date): Omit<TokenFacts, 'appMismatch'> {
  const checked = { tokenCheckedAt: now }
  if (inspected.ok)
    return {
      info: inspected.value,
      columns: {
        ...checked,
        appId: inspected.value.appId ?? null,
        ...toExpiryColumn(inspected.value),
        ...toProblemColumns(
          'tokenProblem',
          inspected.value.valid ? null : (inspected.value.reason ?? findings.tokenInvalid()),
        ),
        missingPermissions: listMissingPermissions(inspected.value),
      },
    }
  if (inspected.error?.code === 190)
    return {
      info: undefined,
      columns: { ...checked, ...toProblemColumns('tokenProblem', explainReadFailure(inspected).message) },
    }
  return { info: undefined, columns: {} }
}

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
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId }, row.accessTokenEncrypted)
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
  const known = (await findHealth(deps.db, stored))?.appId ?? undefined
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
  if (row.appSecretEncrypted === null) return deps.callbacks.appSecret
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
