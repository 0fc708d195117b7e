import { type Kysely, sql } from 'kysely'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { type Fact, inEnglish } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { MetaApp, TokenInfo } from '../../whatsapp/onboarding.ts'
import { explainReadFailure } from '../connect/advice.ts'
import { type InspectedToken, inspectStored, openStored, readTokenFacts, type Stored } from '../connect/token.ts'
import { accessTokenPurpose } from '../secrets.ts'
import { changeWhatsAppAccount, lockUnchanged, type WhatsAppAccountRef } from '../store.ts'
import type { CheckDeps } from './check.ts'
import { findHealth, type HealthChanges, saveHealth, toProblemColumns } from './store.ts'

/** Records a refresh in the audit log of the account, in the transaction that stores it. */
export type RecordRefresh = (
  trx: Kysely<Database>,
  refresh: WhatsAppAccountRef & { outcome: 'done' | 'refused' },
) => Promise<void>

type RefreshDeps = CheckDeps & Pick<Deps, 'secrets'>

/** Earlier than the first notice of an expiry, which is announced 14 days ahead. */
const refreshDays = 20
const nextSeconds = 24 * 3600
const maxClaimed = 10

/** Refreshes tokens that expire soon. One failure does not stop the others. Returns the number of claimed accounts. */
export async function refreshDueTokens(deps: RefreshDeps, record: RecordRefresh): Promise<number> {
  const limits = { now: deps.now(), days: refreshDays, limit: maxClaimed, nextSeconds }
  const due = await claimDueRefreshes(deps.db, limits)
  for (const ref of due)
    await refresh(deps, ref, record).catch((error: unknown) =>
      deps.log.warn({ err: error, ...ref }, 'could not refresh an access token; it stays in use'),
    )
  return due.length
}

/**
 * Exchanges the token for one that expires later, verifies the new one, and replaces the old one if it was not replaced
 * in the meantime. The old token stays valid until it expires, so a failure or a crash at any point loses nothing.
 */
async function refresh(deps: RefreshDeps, ref: WhatsAppAccountRef, record: RecordRefresh): Promise<void> {
  const stored = await openStored(deps, ref)
  if ('problem' in stored) return
  const { app, token } = await inspectStored(deps, stored)
  // Without the app's secret, Meta issues no token, and the expiry is announced as usual.
  if (!app) return
  const renewed = await requestToken(deps, stored, { app, before: token.info })
  if ('problem' in renewed) return reportProblem(deps, ref, record, renewed.problem)
  const isStored = await deps.db.transaction().execute(async (trx) => {
    if (!(await lockUnchanged(trx, stored.row))) return false
    const { accountId, whatsAppAccountId } = ref
    const accessTokenEncrypted = deps.secrets.encrypt(renewed.accessToken, accessTokenPurpose(whatsAppAccountId))
    await changeWhatsAppAccount(trx, accountId, whatsAppAccountId, { accessTokenEncrypted })
    await saveHealth(trx, ref, {
      ...renewed.facts,
      tokenRefreshedAt: deps.now(),
      ...toProblemColumns('tokenRefreshProblem', null),
      // When the new token is refreshed depends on its own expiry.
      tokenRefreshDueAt: null,
    })
    await record(trx, { ...ref, outcome: 'done' })
    return true
  })
  if (isStored) deps.log.info(ref, 'refreshed an access token')
}

const { numberUnusable, invalid, permissionLost, notLater } = connectFacts.refresh

type Renewed = { accessToken: string; facts: HealthChanges } | { problem: Fact }

/** Requests a new token and verifies that it expires later, has the same permissions and can use the number. */
async function requestToken(
  deps: Pick<Deps, 'whatsapp' | 'now'>,
  { row, accessToken }: Stored,
  { app, before }: { app: MetaApp; before: InspectedToken['token']['info'] },
): Promise<Renewed> {
  const issued = await deps.whatsapp.refreshToken({ accessToken, app })
  if (!issued.ok) return { problem: explainReadFailure(issued).message }
  const { accessToken: renewed } = issued.value
  const [after, number] = await Promise.all([
    readTokenFacts(deps, { accessToken: renewed, app }),
    deps.whatsapp.getNumberDetails({ phoneNumberId: row.phoneNumberId, accessToken: renewed }),
  ])
  if (!number.ok) return { problem: numberUnusable({ problem: explainReadFailure(number).message }) }
  if (after.info?.valid !== true) return { problem: invalid() }
  const lost = before?.scopes.filter((scope) => after.info?.scopes.includes(scope) === false) ?? []
  if (lost.length > 0) return { problem: permissionLost({ permissions: lost.join(' and ') }) }
  if (!expiresLater(after.info.expiresAt, before?.expiresAt)) return { problem: notLater() }
  return { accessToken: renewed, facts: after.columns }
}

function expiresLater(after: TokenInfo['expiresAt'], before: TokenInfo['expiresAt']): boolean {
  return after === 'never' || (after instanceof Date && before instanceof Date && after > before)
}

/** Logs and audits a problem only once, although the refresh is tried every day. */
async function reportProblem(
  deps: Pick<Deps, 'db' | 'log'>,
  ref: WhatsAppAccountRef,
  record: RecordRefresh,
  problem: Fact,
): Promise<void> {
  const columns = toProblemColumns('tokenRefreshProblem', problem)
  const known = await findHealth(deps.db, ref)
  // The version before writes only the text.
  const isKnown = known?.tokenRefreshProblem === columns.tokenRefreshProblem
  if (isKnown && known?.tokenRefreshProblemFact === columns.tokenRefreshProblemFact) return
  await deps.db.transaction().execute(async (trx) => {
    await saveHealth(trx, ref, columns)
    if (!isKnown) await record(trx, { ...ref, outcome: 'refused' })
  })
  if (isKnown) return
  deps.log.warn({ ...ref, reason: inEnglish(problem) }, 'could not refresh an access token; it stays in use')
}

/**
 * Claims accounts whose valid token expires within `days`, so that only one of several nodes refreshes each. The next
 * attempt is due after `nextSeconds`. Inactive accounts are skipped, because their users must act first. Reads all
 * accounts.
 */
async function claimDueRefreshes(
  db: Kysely<Database>,
  { now, days, limit, nextSeconds }: { now: Date; days: number; limit: number; nextSeconds: number },
): Promise<WhatsAppAccountRef[]> {
  const { rows } = await sql<WhatsAppAccountRef>`
    with due as (
      select h.whatsapp_account_id from whatsapp_account_health h
      join whatsapp_accounts w on w.id = h.whatsapp_account_id
      where h.token_expires_at > ${now}::timestamptz
        and h.token_expires_at < ${now}::timestamptz + ${days} * interval '24 hours'
        and coalesce(h.token_refresh_due_at <= now(), true)
        and h.app_id is not null and h.token_problem is null and not w.switched_off and w.inactive_reason is null
      order by h.token_expires_at limit ${limit}
      for update of h skip locked
    )
    update whatsapp_account_health h set token_refresh_due_at = now() + ${nextSeconds} * interval '1 second'
    from due
    where h.whatsapp_account_id = due.whatsapp_account_id
    returning h.account_id as "accountId", h.whatsapp_account_id as "whatsAppAccountId"`.execute(db)
  return rows
}
