import { allInEnglish, inEnglish } from '../../contracts/facts/fact.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { describeMarketing } from '../whatsapp-accounts/health/marketing.ts'
import { findVersionProblems } from '../whatsapp-accounts/health/findings.ts'
import { readAllHealth } from '../whatsapp-accounts/health/read.ts'
import { findAccounts } from '../accounts/store.ts'
import type { StoredSecret } from '../accounts/rekey.ts'
import { accessTokenPurpose } from '../whatsapp-accounts/secrets.ts'
import { findAllWhatsAppAccounts, type WhatsAppAccountRow } from '../whatsapp-accounts/store.ts'
import { whyInactive } from '../whatsapp-accounts/whatsapp-account.ts'
import type { Deps } from '../deps.ts'
import { decryptContent } from '../messages/contents/content.ts'
import { findOldestContents } from '../messages/contents/store.ts'
import { countStalePending } from '../messages/status/stale-pending.ts'
import { isAppSecret } from '../platform/config.ts'
import { findConnectProblem } from '../platform/db/connect/connect-failure.ts'
import { listPendingMigrations } from '../platform/db/migrate/migrate.ts'
import { findEmbeddedDatabase } from '../platform/db/database.ts'
import {
  DatabaseSettingError,
  PoolerError,
  rejectPooler,
  rejectUnusableSettings,
} from '../platform/db/connect/session.ts'
import { DatabasePasswordError } from '../platform/db/connect/passwords.ts'
import { MailError } from '../platform/email/transport.ts'
import { isDatabaseUnavailable } from '../platform/db/errors.ts'
import { describeProxies } from '../platform/proxy.ts'
import type { SecretBox } from '../platform/secrets.ts'
import { listStoredSecrets } from './stored-secrets.ts'
import { countApprovedTemplates, oldestServerVersion, readServerVersion, readTlsVersion } from './operator-store.ts'
import { waybill } from './failure.ts'

export interface CheckResult {
  check: string
  /** False fails the command. */
  ok: boolean
  message: string
  /** How to fix the problem. A finding that is OK and has a fix is a warning. */
  fix?: string
}

/** Runs the checks. All others need the database and its schema, so the run ends if one of these fails. */
export async function runChecks(deps: Deps): Promise<CheckResult[]> {
  const database = await checkDatabase(deps)
  if (!database.ok) return [database]
  const migrations = await checkMigrations(deps)
  if (!migrations.ok) return [database, migrations]
  return [
    database,
    migrations,
    await checkSecretKey(deps),
    ...(await checkContents(deps)),
    ...checkProxies(deps),
    ...checkVersion(deps),
    ...(await checkWhatsApp(deps)),
    ...(await checkCallbacks(deps)),
    ...(await checkVerifyToken(deps)),
    ...(await checkHealth(deps)),
    ...(await checkMarketing(deps)),
    ...(await checkTemplates(deps)),
    await checkMessages(deps),
    ...(await checkEmail(deps)),
  ]
}

async function checkDatabase({ db }: Deps): Promise<CheckResult> {
  const check = 'database'
  try {
    await rejectPooler(db)
    await rejectUnusableSettings(db)
    const version = await readServerVersion(db)
    const message = `PostgreSQL ${Math.trunc(version / 10_000)}.${version % 10_000} is reachable${await describeEncryption(db)}`
    if (version >= oldestServerVersion) return { check, ok: true, message }
    return { check, ok: false, message, fix: 'Waybill needs PostgreSQL 14 or newer.' }
  } catch (error) {
    if (error instanceof PoolerError)
      return { check, ok: false, message: 'connected through a pooler', fix: error.message }
    if (error instanceof DatabaseSettingError)
      return { check, ok: false, message: 'has an unsupported setting', fix: error.message }
    if (!(error instanceof Error)) throw error
    if (error instanceof DatabasePasswordError)
      return { check, ok: false, message: 'no password', fix: `${error.message}.` }
    const problem = findConnectProblem(error)
    if (problem) return { check, ok: false, ...problem }
    const message = isDatabaseUnavailable(error) ? 'cannot be reached' : `rejected the connection: ${error.message}`
    return {
      check,
      ok: false,
      message,
      fix: 'Check DATABASE_URL, and that PostgreSQL is running and accepts this user.',
    }
  }
}

async function describeEncryption(db: Deps['db']): Promise<string> {
  if (findEmbeddedDatabase(db)) return ''
  const version = await readTlsVersion(db)
  return version === undefined ? ', without TLS' : `, over ${version}`
}

async function checkMigrations({ db }: Deps): Promise<CheckResult> {
  const check = 'migrations'
  const pending = await listPendingMigrations(db).catch((error: unknown) => {
    if (error instanceof ServiceError) return error
    throw error
  })
  if (pending instanceof ServiceError)
    return { check, ok: false, message: 'the schema belongs to another version of Waybill', fix: pending.message }
  if (pending.length === 0) return { check, ok: true, message: 'up to date' }
  return { check, ok: false, message: `pending migrations: ${pending.join(', ')}`, fix: `${waybill} migrate` }
}

async function checkSecretKey(deps: Deps): Promise<CheckResult> {
  const secrets = await listStoredSecrets(deps.db)
  const check = 'secret key'
  const lost = secrets.filter((secret) => !canDecrypt(deps.secrets, secret))
  if (lost.length > 0)
    return {
      check,
      ok: false,
      message: `${lost.length} of ${secrets.length} stored secrets cannot be decrypted (${[...new Set(lost.map(({ recordId }) => recordId))].join(', ')})`,
      fix: 'Append the key that encrypted them to WAYBILL_SECRET_KEY, separated by a comma. If that key is lost, remove the accounts and endpoints listed here and add them again.',
    }
  const old = secrets.filter(({ ciphertext }) => !deps.secrets.isCurrent(ciphertext))
  if (old.length === 0) return { check, ok: true, message: `decrypts every stored secret (${secrets.length})` }
  const message = `decrypts every stored secret (${secrets.length}), ${old.length} of them with an older key`
  return { check, ok: true, message, fix: `${waybill} rekey` }
}

/** There can be millions, so only the oldest one of each account is decrypted, because it has the oldest key. */
async function checkContents({ db, secrets }: Deps): Promise<CheckResult[]> {
  const oldest = await findOldestContents(db)
  if (oldest.length === 0) return []
  const check = 'message contents'
  const lost = oldest.filter((row) => decryptContent(secrets, row, row.ciphertext) === undefined)
  if (lost.length > 0)
    return [
      {
        check,
        ok: false,
        message: `cannot be decrypted for ${lost.map(({ accountId }) => accountId).join(', ')}`,
        fix: `Append the key that encrypted them to WAYBILL_SECRET_KEY, separated by a comma. If that key is lost, delete them: ${waybill} account update ACC --message-contents off`,
      },
    ]
  if (oldest.every(({ ciphertext }) => secrets.isCurrent(ciphertext)))
    return [{ check, ok: true, message: 'encrypted with the current key' }]
  return [{ check, ok: true, message: 'some are encrypted with an older key', fix: `${waybill} rekey` }]
}

/** The checks of WhatsApp that follow show whether the proxy works. */
function checkProxies({ proxies }: Deps): CheckResult[] {
  return proxies ? [{ check: 'proxy', ok: true, message: describeProxies(proxies) }] : []
}

async function checkWhatsApp(deps: Deps): Promise<CheckResult[]> {
  const rows = await findAllWhatsAppAccounts(deps.db)
  if (rows.length > 0) return Promise.all(rows.map((row) => checkWhatsAppAccount(deps, row)))
  const accounts = await findAccounts(deps.db)
  return [
    await checkGraphApi(deps),
    {
      check: 'WhatsApp account',
      ok: false,
      message: 'none exists, so nothing can be sent',
      fix: describeConnecting(accounts.map(({ id }) => id)),
    },
  ]
}

/** The guided way to the first number. */
function describeConnecting(accountIds: readonly string[]): string {
  const [accountId, ...others] = accountIds
  if (accountId === undefined)
    return `${waybill} account create --name NAME, then ${waybill} whatsapp connect with the account ID that it prints`
  return `${waybill} whatsapp connect ${others.length === 0 ? accountId : 'ACC'}`
}

/** Without an app secret every callback is rejected, so no status ever arrives. */
async function checkCallbacks({ db, callbacks }: Deps): Promise<CheckResult[]> {
  const check = 'callbacks'
  if (callbacks.appSecret !== undefined) return [{ check, ok: true, ...describeAppSecret(callbacks.appSecret) }]
  const rows = await findAllWhatsAppAccounts(db)
  // Without a WhatsApp account, there is nothing to check yet.
  if (rows.length === 0) return []
  const without = rows.filter((row) => row.appSecretEncrypted === null)
  if (without.length === 0) return [{ check, ok: true, message: 'every WhatsApp account has an app secret of its own' }]
  return [
    {
      check,
      ok: false,
      message: `META_APP_SECRET is not set, so callbacks are rejected and no status arrives for ${without.map(({ id }) => id).join(', ')}`,
      fix: `Set META_APP_SECRET to the secret of your Meta app (App settings > Basic) and restart Waybill, or store the secret of one account: ${waybill} whatsapp update WA --app-secret -`,
    },
  ]
}

function describeAppSecret(appSecret: string): { message: string; fix?: string } {
  if (isAppSecret(appSecret)) return { message: 'META_APP_SECRET is set' }
  return {
    message: 'META_APP_SECRET is not 32 hexadecimal digits, as the secrets of Meta apps are',
    fix: 'Copy the secret from the app dashboard of Meta (App settings > Basic), and restart Waybill.',
  }
}

/** Callbacks of an app that is set up arrive without it. */
async function checkVerifyToken({ db, callbacks }: Deps): Promise<CheckResult[]> {
  const check = 'verify token'
  if (callbacks.verifyToken !== undefined) return [{ check, ok: true, message: 'META_VERIFY_TOKEN is set' }]
  // See checkCallbacks.
  if ((await findAllWhatsAppAccounts(db)).length === 0) return []
  return [
    {
      check,
      ok: true,
      message: 'META_VERIFY_TOKEN is not set, so Meta does not accept the callback URL of this server',
      fix: 'Set META_VERIFY_TOKEN to a random text, such as the output of: openssl rand -hex 16. Then restart Waybill.',
    },
  ]
}

/** Findings that `checkWhatsAppAccount`, `checkCallbacks`, `checkVersion` and `checkMarketing` already report. */
const reportedElsewhere = new Set([
  'rejected',
  'deactivated',
  'token_invalid',
  'app_secret_missing',
  'marketing_not_onboarded',
  'marketing_rejected',
  'graph_version_ending',
])

/** Returns the findings of the last check with WhatsApp. Warnings do not fail the command. */
async function checkHealth(deps: Deps): Promise<CheckResult[]> {
  const states = await readAllHealth(deps)
  return states.flatMap(({ whatsAppAccountId, findings }) =>
    findings
      .filter(({ code }) => !reportedElsewhere.has(code))
      .map(({ severity, message, fix }) => ({
        check: `health of ${whatsAppAccountId}`,
        ok: severity !== 'error',
        ...allInEnglish({ message, fix }),
      })),
  )
}

/** Accounts whose onboarding is a problem have a health finding with the same fix. */
async function checkMarketing({ db }: Deps): Promise<CheckResult[]> {
  const rows = await findAllWhatsAppAccounts(db)
  return rows.flatMap((row) => {
    const marketing = row.active ? describeMarketing(row) : undefined
    return marketing ? [{ check: `marketing messages of ${row.id}`, ...marketing }] : []
  })
}

/** All WhatsApp accounts have the same finding. */
function checkVersion(deps: Pick<Deps, 'graphVersion' | 'now'>): CheckResult[] {
  return findVersionProblems(deps, deps.now()).map(({ message, fix }) => ({
    check: 'Graph API version',
    ok: true,
    ...allInEnglish({ message, fix }),
  }))
}

/** No token is needed: any response, including an error, shows that WhatsApp is reachable. */
async function checkGraphApi(deps: Deps): Promise<CheckResult> {
  const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: '0', accessToken: 'none' })
  const check = 'Graph API'
  if (outcome.ok || outcome.refused) return { check, ok: true, message: 'reachable' }
  return { check, ok: false, message: outcome.reason, fix: describeUnreachable(deps) }
}

function describeUnreachable({ proxies }: Pick<Deps, 'proxies'>): string {
  if (!proxies) return 'Check GRAPH_API_URL, and that this machine can connect to it.'
  return 'Check GRAPH_API_URL and HTTPS_PROXY, and that the proxy may connect to it.'
}

async function checkWhatsAppAccount(deps: Deps, row: WhatsAppAccountRow): Promise<CheckResult> {
  const check = `WhatsApp account ${row.id}`
  const activate = `${waybill} whatsapp activate ${row.id}`
  const accessToken = decrypt(deps.secrets, row.accessTokenEncrypted, accessTokenPurpose(row.id))
  if (accessToken === undefined) return { check, ok: false, message: 'the access token cannot be decrypted' }
  if (!row.active && !row.isDefault) {
    const message = `inactive: ${inEnglish(whyInactive(row) ?? '')}`
    return row.switchedOff ? { check, ok: true, message } : { check, ok: false, message, fix: activate }
  }
  const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: row.phoneNumberId, accessToken })
  if (!outcome.ok && outcome.refused)
    return {
      check,
      ok: false,
      message: outcome.reason,
      fix: `Check that its token is valid and has permission to send, then run: ${activate}`,
    }
  if (!outcome.ok) return { check, ok: false, message: outcome.reason, fix: describeUnreachable(deps) }
  if (!row.active)
    return {
      check,
      ok: false,
      message: `the default, but inactive: ${inEnglish(whyInactive(row) ?? '')}`,
      fix: activate,
    }
  return { check, ok: true, message: 'token accepted' }
}

async function checkTemplates({ db }: Deps): Promise<CheckResult[]> {
  const counts = await countApprovedTemplates(db)
  return counts.map(({ accountId, wabaId, approved }) => {
    const check = `templates of ${accountId} in WABA ${wabaId}`
    if (approved > 0) return { check, ok: true, message: `${approved} approved` }
    return { check, ok: false, message: 'none is approved', fix: `${waybill} template sync ${accountId}` }
  })
}

/** Only messages of the last day, because older ones are unlikely to get a status. */
async function checkMessages({ db }: Deps): Promise<CheckResult> {
  const { count } = await countStalePending(db, { lastHours: 24 })
  const check = 'messages'
  if (count === 0) return { check, ok: true, message: 'none has been pending for more than a minute' }
  return {
    check,
    ok: false,
    message: `${count} from the last day have been pending for more than a minute: it is unknown whether WhatsApp accepted them`,
    fix: `Status callbacks settle them: check that the callback URL of the Meta app ends in /webhooks/whatsapp, or in /webhooks/whatsapp/<WA> for an app with its own secret. If you know the outcome, record it: ${waybill} message resolve --help`,
  }
}

/** Signs in to the SMTP server, if there is one, and sends nothing. */
async function checkEmail({ mail }: Deps): Promise<CheckResult[]> {
  if (!mail) return []
  const check = 'email'
  try {
    await mail.verify()
    return [{ check, ok: true, message: 'the SMTP server accepts the connection and the credentials' }]
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const message = `the SMTP server cannot be used (${error.code}): ${error.message}`
    return [{ check, ok: false, message, fix: describeMailFix(error.code) }]
  }
}

function describeMailFix(code: string): string {
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return 'Check the user and password in SMTP_URL. Percent-encode special characters, such as %2F for a slash.'
  if (code === 'ETLS')
    return 'The server must offer STARTTLS with a valid certificate. For TLS from the start, use smtps:// and port 465.'
  return 'Check the host and port in SMTP_URL, that this machine can connect to it, and that its certificate is valid for the host. For your own certificate authority, set NODE_EXTRA_CA_CERTS.'
}

function canDecrypt(box: SecretBox, { ciphertext, purpose }: StoredSecret): boolean {
  return decrypt(box, ciphertext, purpose) !== undefined
}

function decrypt(box: SecretBox, ciphertext: string, purpose: string): string | undefined {
  try {
    return box.decrypt(ciphertext, purpose)
  } catch {
    return undefined
  }
}
