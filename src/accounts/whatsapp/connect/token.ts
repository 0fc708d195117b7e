import type { Deps } from '../../../deps.ts'
import type { MetaApp, NumberDetails, TokenInfo } from '../../../whatsapp/onboarding.ts'
import type { ReadOutcome } from '../../../whatsapp/whatsapp.ts'
import { explainFailure } from './advice.ts'
import type { ConnectableAccount, TokenReport } from '../../../../contracts/dashboard/connect.ts'

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
  if (!inspected.ok) return { valid: false, ...explainFailure(inspected), permissions: [], missing: [], accounts: [] }
  const token = inspected.value
  const report = describeToken(token, now())
  if (!report.valid || report.missing.includes('whatsapp_business_management')) return { ...report, accounts: [] }
  const accounts = await listConnectable({ whatsapp }, accessToken, token)
  if (!accounts.ok) return { ...report, ...explainFailure(accounts), accounts: [] }
  if (accounts.value.every(({ numbers }) => numbers.length === 0))
    return {
      ...report,
      message: `${report.message} But it may use no phone number.`,
      fix: 'In Meta Business Suite, open Settings > Accounts > WhatsApp accounts and assign the account to the system user of the token with full control. The account needs a phone number: add one in WhatsApp Manager.',
      accounts: accounts.value,
    }
  return { ...report, accounts: accounts.value }
}

function describeToken(token: TokenInfo, now: Date): Omit<TokenReport, 'accounts'> {
  const missing = listMissingPermissions(token)
  const facts = {
    permissions: token.scopes,
    missing,
    ...(token.appId !== undefined && { appId: token.appId }),
    ...(token.appName !== undefined && { appName: token.appName }),
    ...(token.expiresAt && { expiresAt: token.expiresAt.toISOString() }),
  }
  if (!token.valid)
    return {
      valid: false,
      ...facts,
      message: `WhatsApp says that this token is not valid${token.reason === undefined ? '' : `: ${token.reason}`}`,
      fix: 'Create a new token for the system user in Meta Business Suite.',
    }
  const message = `The token is valid${token.appName === undefined ? '' : ` and belongs to the app “${token.appName}”`}. ${describeExpiry(token, now)}`
  if (missing.length === 0) return { valid: true, ...facts, message }
  return {
    valid: true,
    ...facts,
    message: `${message} It lacks the permission ${missing.join(' and ')}.`,
    fix: 'Create a new token for the system user with the permissions whatsapp_business_messaging and whatsapp_business_management.',
  }
}

function describeExpiry({ expiresAt }: TokenInfo, now: Date): string {
  if (!expiresAt) return 'It does not expire.'
  const days = Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 86_400_000))
  const left = days === 0 ? 'in less than a day' : days === 1 ? 'in 1 day' : `in ${days} days`
  return `It expires ${left} (${expiresAt.toISOString().slice(0, 10)}). Use a token that never expires for a server.`
}

async function listConnectable(
  { whatsapp }: Pick<Deps, 'whatsapp'>,
  accessToken: string,
  { wabaIds }: TokenInfo,
): Promise<ReadOutcome<ConnectableAccount[]>> {
  const accounts = await whatsapp.listBusinessAccounts({ accessToken, wabaIds })
  if (!accounts.ok) return accounts
  const listed: ConnectableAccount[] = []
  for (const account of accounts.value) {
    const numbers = await whatsapp.listPhoneNumbers({ wabaId: account.wabaId, accessToken })
    if (!numbers.ok) return numbers
    listed.push({ ...account, numbers: numbers.value.map(toConnectableNumber) })
  }
  return { ok: true, value: listed }
}

function toConnectableNumber(number: NumberDetails): ConnectableAccount['numbers'][number] {
  const { phoneNumberId, displayPhoneNumber, verifiedName, status, qualityRating } = number
  return {
    phoneNumberId,
    ...(displayPhoneNumber !== undefined && { displayPhoneNumber }),
    ...(verifiedName !== undefined && { verifiedName }),
    ...(status !== undefined && { status }),
    ...(qualityRating !== undefined && { qualityRating }),
  }
}

/** The facts about a token that are stored with its account; a failed inspection says nothing about the token. */
export async function readTokenFacts(
  { whatsapp, now }: Pick<Deps, 'whatsapp' | 'now'>,
  { accessToken, app }: { accessToken: string; app?: MetaApp | undefined },
): Promise<{ info: TokenInfo | undefined; columns: TokenColumns }> {
  const inspected = await whatsapp.inspectToken({ accessToken, app })
  const checked = { token_checked_at: now() }
  if (inspected.ok)
    return {
      info: inspected.value,
      columns: {
        ...checked,
        app_id: inspected.value.appId ?? app?.appId ?? null,
        token_expires_at: inspected.value.expiresAt ?? null,
        token_problem: inspected.value.valid ? null : (inspected.value.reason ?? 'WhatsApp says that it is not valid.'),
        missing_permissions: listMissingPermissions(inspected.value),
      },
    }
  if (inspected.error?.code === 190 && !app)
    return { info: undefined, columns: { ...checked, token_problem: explainFailure(inspected).message } }
  return { info: undefined, columns: {} }
}

export interface TokenColumns {
  token_checked_at?: Date
  app_id?: string | null
  token_expires_at?: Date | null
  token_problem?: string | null
  missing_permissions?: string[]
}
