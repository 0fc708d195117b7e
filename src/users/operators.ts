import { type Kysely, sql } from 'kysely'
import { changes } from '../../contracts/facts/changes.ts'
import type { OperatorAccess } from '../../contracts/dashboard/user.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { accountNotFound } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import type { AuditDeps } from './audit/append.ts'
import { recordForUser, recordOwnChange } from './audit/audit.ts'
import { normalizeEmail } from './member.ts'
import type { SignedIn } from './sign-in/better-auth.ts'
import { type AttemptLimit, consumeAttempt } from './sign-in/login-throttle.ts'
import { findInvitedUser, findUserByEmail } from './store.ts'

/** A user who may use the operator's console. Only the command line grants and revokes it. */
interface Operator {
  email: string
  name: string
  twoFactor: boolean
  grantedAt: string
}

const viewMinutes = 60

export async function listOperators({ db }: Pick<Deps, 'db'>): Promise<Operator[]> {
  const rows = await db
    .selectFrom('operators')
    .innerJoin('owners', 'owners.id', 'operators.owner_id')
    .select([
      'owners.email',
      'owners.name',
      'owners.twoFactorEnabled as twoFactor',
      'operators.granted_at as grantedAt',
    ])
    .orderBy('owners.email')
    .execute()
  return rows.map((row) => ({ ...row, grantedAt: row.grantedAt.toISOString() }))
}

/**
 * Makes an existing user an operator. The members of their accounts see it in the audit log. Without a proof of the
 * address, somebody else may have registered it with a link that an owner of an account saw.
 */
export async function grantOperator(deps: AuditDeps, { email }: { email: string }): Promise<Operator> {
  const user = await findInvitedUser(deps.db, normalizeEmail(email))
  if (!user)
    throw new ServiceError('NOT_FOUND', `No user has the email address ${JSON.stringify(email)}.`, {
      remedy: 'Invite them to an account first: waybill owner invite ACC --email EMAIL',
    })
  if (!user.isVerified)
    throw new ServiceError('SETTING_REFUSED', `The user ${JSON.stringify(email)} has not proved their email address.`, {
      remedy: 'Send them a link that proves it, then grant again: waybill owner reset-password ACC --email EMAIL',
    })
  const granted = await deps.db
    .insertInto('operators')
    .values({ owner_id: user.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('owner_id')
    .executeTakeFirst()
  if (granted)
    await recordForUser(deps, user.id, {
      who: 'operator',
      what: changes.grantOperator({ email: normalizeEmail(email) }),
      address: 'command line',
      outcome: 'done',
    })
  const operator = (await listOperators(deps)).find((one) => one.email === normalizeEmail(email))
  if (!operator) throw operatorNotFound(email)
  return operator
}

/** Takes effect with the next request, and ends every view of an account. */
export async function revokeOperator(deps: AuditDeps, { email }: { email: string }): Promise<void> {
  const user = await findUserByEmail(deps.db, normalizeEmail(email))
  const row =
    user &&
    (await deps.db
      .deleteFrom('operators')
      .where('owner_id', '=', user.id)
      .returning('owner_id as userId')
      .executeTakeFirst())
  if (!row) throw operatorNotFound(email)
  await recordForUser(deps, row.userId, {
    who: 'operator',
    what: changes.revokeOperator({ email: normalizeEmail(email) }),
    address: 'command line',
    outcome: 'done',
  })
}

function operatorNotFound(email: string): ServiceError {
  return new ServiceError('NOT_FOUND', `No operator has the email address ${JSON.stringify(email)}.`, {
    remedy: 'List the operators: waybill operator list',
  })
}

/** The console polls its list, so only one entry per session and hour is written, across all nodes. */
const listEntries: AttemptLimit = { name: 'list of accounts', max: 1, seconds: 3600 }

/**
 * Records that an operator reads the list of all accounts: in the log of the server and, like the grant, in the audit
 * logs of the accounts that they are a member of.
 */
export async function recordList(
  deps: AuditDeps,
  { address, ...user }: Pick<SignedIn, 'userId' | 'email' | 'sessionId'> & { address: string },
): Promise<void> {
  if (await consumeAttempt(deps, listEntries, user.sessionId)) return
  deps.log.info({ userId: user.userId }, 'an operator reads the list of all accounts')
  await recordOwnChange(deps, user, {
    what: changes.listAccounts(),
    address,
    outcome: 'done',
  })
}

async function isOperator(db: Kysely<Database>, userId: string): Promise<boolean> {
  return (
    (await db.selectFrom('operators').select('owner_id').where('owner_id', '=', userId).executeTakeFirst()) !==
    undefined
  )
}

/** Returns what an operator still needs to use the console; undefined if the user is not an operator. */
export async function readOperatorAccess(
  db: Kysely<Database>,
  { userId, twoFactor, secondFactor }: Pick<SignedIn, 'userId' | 'twoFactor' | 'secondFactor'>,
): Promise<OperatorAccess | undefined> {
  if (!(await isOperator(db, userId))) return undefined
  if (!twoFactor) return 'needs_authenticator'
  return secondFactor ? 'granted' : 'needs_code'
}

/** Lets the session of an operator read an account for an hour. */
export async function openAccountView(
  db: Kysely<Database>,
  { userId, sessionId }: Pick<SignedIn, 'userId' | 'sessionId'>,
  accountId: string,
): Promise<{ expiresAt: string }> {
  const expiresAt = sql<Date>`now() + make_interval(mins => ${viewMinutes})`
  const row = await db
    .insertInto('operator_views')
    .columns(['session_id', 'owner_id', 'account_id', 'expires_at'])
    .expression((eb) =>
      eb
        .selectFrom('accounts')
        .select([
          sql<string>`${sessionId}`.as('session_id'),
          sql<string>`${userId}`.as('owner_id'),
          'accounts.id',
          expiresAt.as('expires_at'),
        ])
        .where('accounts.id', '=', accountId),
    )
    .onConflict((conflict) => conflict.columns(['session_id', 'account_id']).doUpdateSet({ expires_at: expiresAt }))
    .returning('expires_at as expiresAt')
    .executeTakeFirst()
  if (!row) throw accountNotFound(accountId)
  return { expiresAt: row.expiresAt.toISOString() }
}

export async function closeAccountView(db: Kysely<Database>, sessionId: string, accountId: string): Promise<void> {
  await db
    .deleteFrom('operator_views')
    .where('session_id', '=', sessionId)
    .where('account_id', '=', accountId)
    .execute()
}

interface OperatorView {
  accountId: string
  name: string
  expiresAt: Date
  suspendedAt: Date | null
}

/**
 * Returns the accounts that a session may read as operator. Revoking an operator deletes their views. The second factor
 * is checked again, because the authenticator app may have been turned off.
 */
export function findAccountViews(
  db: Kysely<Database>,
  { sessionId, accountId }: { sessionId: string; accountId?: string },
): Promise<OperatorView[]> {
  const views = db
    .selectFrom('operator_views as v')
    .innerJoin('operators as o', 'o.owner_id', 'v.owner_id')
    .innerJoin('owners as u', 'u.id', 'o.owner_id')
    .innerJoin('owner_sessions as s', 's.id', 'v.session_id')
    .innerJoin('accounts as a', 'a.id', 'v.account_id')
    .select(['a.id as accountId', 'a.name', 'a.suspended_at as suspendedAt', 'v.expires_at as expiresAt'])
    .where('v.session_id', '=', sessionId)
    .where('v.expires_at', '>', sql<Date>`now()`)
    .where('u.twoFactorEnabled', '=', true)
    .where('s.secondFactor', '=', true)
    .whereRef('s.userId', '=', 'v.owner_id')
    .orderBy('v.expires_at', 'desc')
  return (accountId === undefined ? views.limit(20) : views.where('a.id', '=', accountId)).execute()
}

export async function deleteExpiredAccountViews(db: Kysely<Database>, now: Date): Promise<void> {
  await db.deleteFrom('operator_views').where('expires_at', '<', now).execute()
}
