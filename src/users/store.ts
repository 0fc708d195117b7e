import { type InferResult, type Kysely, sql } from 'kysely'
import type { Membership } from '../../contracts/dashboard/user.ts'
import type { Role } from '../../contracts/procedure.ts'
import { toRow } from '../platform/db/names.ts'
import type { Database } from '../platform/db/schema.ts'
import { deleteWaitingEmails } from '../platform/email/outbox.ts'

/** Reads all accounts: those in which this user has a role. */
export function findMemberships(
  db: Kysely<Database>,
  userId: string,
): Promise<(Pick<Membership, 'accountId' | 'name' | 'role'> & { suspendedAt: Date | null })[]> {
  return db
    .selectFrom('owner_roles')
    .innerJoin('accounts', 'accounts.id', 'owner_roles.account_id')
    .select(['accounts.id as accountId', 'accounts.name', 'owner_roles.role', 'accounts.suspended_at as suspendedAt'])
    .where('owner_roles.owner_id', '=', userId)
    .orderBy('accounts.id')
    .execute()
}

export async function findRole(db: Kysely<Database>, accountId: string, userId: string): Promise<Role | undefined> {
  const row = await db
    .selectFrom('owner_roles')
    .select('role')
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .executeTakeFirst()
  return row?.role
}

/** A second invitation to the same account changes the role. */
export async function saveRole(
  db: Kysely<Database>,
  { accountId, userId, role }: { accountId: string; userId: string; role: Role },
): Promise<void> {
  await db
    .insertInto('owner_roles')
    .values({ account_id: accountId, owner_id: userId, role })
    .onConflict((conflict) => conflict.columns(['account_id', 'owner_id']).doUpdateSet({ role }))
    .execute()
}

/** An email address identifies one user in all accounts. */
export function findUserByEmail(db: Kysely<Database>, email: string): Promise<{ id: string } | undefined> {
  return db.selectFrom('owners').select('id').where('email', '=', email).executeTakeFirst()
}

export interface InvitedUser {
  id: string
  /**
   * False if nobody has proved to receive emails at the address, so that somebody else may have set the password and
   * the authenticator app. Operators count as verified, because the command line granted them their role.
   */
  isVerified: boolean
}

export async function findInvitedUser(db: Kysely<Database>, email: string): Promise<InvitedUser | undefined> {
  return toInvitedUser(await selectInvitedUser(db, email).executeTakeFirst())
}

/** Like `findInvitedUser`. Until the transaction ends, the user is not deleted and accepts no other invitation. */
export async function lockInvitedUser(trx: Kysely<Database>, email: string): Promise<InvitedUser | undefined> {
  return toInvitedUser(await selectInvitedUser(trx, email).forNoKeyUpdate('owners').executeTakeFirst())
}

function selectInvitedUser(db: Kysely<Database>, email: string) {
  return db
    .selectFrom('owners')
    .leftJoin('operators', 'operators.owner_id', 'owners.id')
    .select(['owners.id', 'owners.emailVerified', 'operators.owner_id as operatorId'])
    .where('owners.email', '=', email)
}

function toInvitedUser(
  row: { id: string; emailVerified: boolean; operatorId: string | null } | undefined,
): InvitedUser | undefined {
  return row && { id: row.id, isVerified: row.emailVerified || row.operatorId !== null }
}

export function findMembers(
  db: Kysely<Database>,
  accountId: string,
): Promise<{ userId: string; email: string; name: string; role: Role; twoFactor: boolean; alertEmails: boolean }[]> {
  return db
    .selectFrom('owner_roles')
    .innerJoin('owners', 'owners.id', 'owner_roles.owner_id')
    .select(['owners.id as userId', 'owners.email', 'owners.name', 'owner_roles.role'])
    .select('owner_roles.alert_emails as alertEmails')
    .select('owners.twoFactorEnabled as twoFactor')
    .where('owner_roles.account_id', '=', accountId)
    .orderBy('owners.email')
    .execute()
}

/** Returns the hash of a user's password. */
export async function findPassword(db: Kysely<Database>, email: string): Promise<string | undefined> {
  // PostgreSQL rejects NUL, and no address contains it.
  if (email.includes('\0')) return undefined
  return (await selectPassword(db, email).executeTakeFirst())?.password ?? undefined
}

/** Like `findPassword`, but waits for a transaction that is replacing the password. */
export async function findReplacedPassword(db: Kysely<Database>, email: string): Promise<string | undefined> {
  return (await selectPassword(db, email).forShare('owner_credentials').executeTakeFirst())?.password ?? undefined
}

function selectPassword(db: Kysely<Database>, email: string) {
  return db
    .selectFrom('owner_credentials')
    .innerJoin('owners', 'owners.id', 'owner_credentials.userId')
    .select('password')
    .where('email', '=', email)
    .where('providerId', '=', 'credential')
}

/** Replaces the hash of a user's password. Returns whether it was still `from`. */
export async function replacePassword(
  db: Kysely<Database>,
  userId: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('owner_credentials')
    .set({ password: to })
    .where('userId', '=', userId)
    .where('providerId', '=', 'credential')
    .where('password', '=', from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns whether a user can sign in with a password. */
export async function hasPassword(db: Kysely<Database>, userId: string): Promise<boolean> {
  const credential = await db
    .selectFrom('owner_credentials')
    .select('id')
    .where('userId', '=', userId)
    .where('providerId', '=', 'credential')
    .executeTakeFirst()
  return credential !== undefined
}

/**
 * Returns the IDs of the owners of an account and locks their roles until the transaction ends, so that of two owners
 * who remove each other at once, one stays.
 */
export async function lockOwners(trx: Kysely<Database>, accountId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('owner_roles')
    .select('owner_id as userId')
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .orderBy('owner_id')
    .forUpdate()
    .execute()
  return rows.map((row) => row.userId)
}

/** Returns whether the role existed. */
export async function deleteRole(db: Kysely<Database>, accountId: string, userId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('owner_roles')
    .where('account_id', '=', accountId)
    .where('owner_id', '=', userId)
    .returning('owner_id')
    .executeTakeFirst()
  return row !== undefined
}

export async function deleteSessions(db: Kysely<Database>, userId: string): Promise<void> {
  await db.deleteFrom('owner_sessions').where('userId', '=', userId).execute()
}

export async function deleteSession(db: Kysely<Database>, sessionId: string): Promise<void> {
  await db.deleteFrom('owner_sessions').where('id', '=', sessionId).execute()
}

export async function deleteOtherSessions(db: Kysely<Database>, userId: string, keptId: string): Promise<void> {
  await db.deleteFrom('owner_sessions').where('userId', '=', userId).where('id', '!=', keptId).execute()
}

/** Deletes everything that a user signs in with, so that only the person who has just proved the address can go on. */
export async function replaceCredentials(
  db: Kysely<Database>,
  { userId, name }: { userId: string; name: string },
): Promise<void> {
  await deleteCredentials(db, userId)
  await deleteSessions(db, userId)
  await db.updateTable('owners').set({ name }).where('id', '=', userId).execute()
}

/** Records that the user has proved to receive emails at their address. */
export async function markEmailVerified(db: Kysely<Database>, userId: string): Promise<void> {
  await db.updateTable('owners').set({ emailVerified: true }).where('id', '=', userId).execute()
}

/** In one order, so that two links of a user that are used at once wait for each other without a deadlock. */
export async function lockVerifications(db: Kysely<Database>, userId: string): Promise<void> {
  await db
    .selectFrom('owner_verifications')
    .select('id')
    .where('value', '=', userId)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/**
 * Deletes the password reset links of a user and their sign-ins that wait for a code, because both must end when the
 * password changes.
 */
export async function deleteVerifications(db: Kysely<Database>, userId: string): Promise<void> {
  await lockVerifications(db, userId)
  await db.deleteFrom('owner_verifications').where('value', '=', userId).execute()
}

/**
 * Deletes the password of a user for all accounts, and their subject at the OpenID provider. They cannot sign in until
 * they set a new password, or sign in with their organisation again.
 */
export async function deleteCredentials(db: Kysely<Database>, userId: string): Promise<void> {
  await db.deleteFrom('owner_credentials').where('userId', '=', userId).execute()
  await deleteVerifications(db, userId)
  await deleteAuthenticator(db, userId)
}

/** Also deletes the backup codes. */
export async function deleteAuthenticator(db: Kysely<Database>, userId: string): Promise<void> {
  await db.deleteFrom('owner_two_factors').where('userId', '=', userId).execute()
  await db.updateTable('owners').set({ twoFactorEnabled: false }).where('id', '=', userId).execute()
}

/**
 * Deletes a user without any account, with their sessions and password. Operators of the server stay. Call it in a
 * transaction: the user is locked first, so that the next statement sees a role that was just granted.
 */
export async function deleteUserWithoutRole(db: Kysely<Database>, userId: string): Promise<void> {
  await db.selectFrom('owners').select('id').where('id', '=', userId).forUpdate().execute()
  await db
    .deleteFrom('owners')
    .where('id', '=', userId)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('owner_roles').select('owner_id').where('owner_id', '=', userId))))
    .where((eb) => eb.not(eb.exists(eb.selectFrom('operators').select('owner_id').where('owner_id', '=', userId))))
    .execute()
}

export type InvitationRow = InferResult<ReturnType<typeof selectInvitations>>[number]

/** Replaces an earlier invitation of this user to this account, so that older links become invalid. */
export async function saveInvitation(
  db: Kysely<Database>,
  { validFor, ...invitation }: Omit<InvitationRow, 'expiresAt' | 'accountName'> & { validFor: string },
): Promise<{ expiresAt: Date }> {
  return db
    .insertInto('owner_invitations')
    .values({ ...toRow(invitation), expires_at: sql<Date>`now() + ${validFor}::interval` })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'email']).doUpdateSet(({ ref }) => ({
        token_hash: ref('excluded.token_hash'),
        role: ref('excluded.role'),
        sets_password: ref('excluded.sets_password'),
        invited_by: ref('excluded.invited_by'),
        proves_email: ref('excluded.proves_email'),
        expires_at: ref('excluded.expires_at'),
        created_at: sql<Date>`now()`,
      })),
    )
    .returning('expires_at as expiresAt')
    .executeTakeFirstOrThrow()
}

/** Reads all accounts: the token determines the account. */
export function findInvitation(db: Kysely<Database>, tokenHash: Uint8Array): Promise<InvitationRow | undefined> {
  return selectInvitations(db)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

function selectInvitations(db: Kysely<Database>) {
  return db
    .selectFrom('owner_invitations as i')
    .innerJoin('accounts as a', 'a.id', 'i.account_id')
    .select(['i.token_hash as tokenHash', 'i.account_id as accountId', 'a.name as accountName', 'i.email', 'i.role'])
    .select(['i.sets_password as setsPassword', 'i.invited_by as invitedBy', 'i.proves_email as provesEmail'])
    .select('i.expires_at as expiresAt')
}

/** Returns true to only one of two concurrent uses of a link. */
export async function spendInvitation(db: Kysely<Database>, tokenHash: Uint8Array): Promise<boolean> {
  const row = await db
    .deleteFrom('owner_invitations')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('account_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes all links that set a new password of this user. */
export async function deletePasswordLinks(db: Kysely<Database>, email: string): Promise<void> {
  await db.deleteFrom('owner_invitations').where('email', '=', email).where('sets_password', '=', true).execute()
}

/** Returns whether the invitation existed. Its email is not sent any more. */
export async function deleteInvitation(
  db: Kysely<Database>,
  accountId: string,
  email: string,
  { keepPasswordLink = false }: { keepPasswordLink?: boolean } = {},
): Promise<boolean> {
  await deleteWaitingEmails(db, { accountId, kind: 'invitation', to: email })
  let deletion = db.deleteFrom('owner_invitations').where('account_id', '=', accountId).where('email', '=', email)
  if (keepPasswordLink) deletion = deletion.where('sets_password', '=', false)
  return (await deletion.returning('email').executeTakeFirst()) !== undefined
}

/** Deletes the invitations that a member sent, which are no longer valid without their rights as an owner. */
export async function deleteInvitationsOf(db: Kysely<Database>, accountId: string, invitedBy: string): Promise<void> {
  const invitations = await db
    .deleteFrom('owner_invitations')
    .where('account_id', '=', accountId)
    .where('invited_by', '=', invitedBy)
    .returning('email')
    .execute()
  for (const { email } of invitations) await deleteWaitingEmails(db, { accountId, kind: 'invitation', to: email })
}

/** Lists the invitations that can still be accepted, without links that set a new password. */
export function findInvitations(
  db: Kysely<Database>,
  accountId: string,
): Promise<{ email: string; role: Role; expiresAt: Date; invitedBy: string | null; emailWaiting: boolean }[]> {
  return db
    .selectFrom('owner_invitations as i')
    .select(['i.email', 'i.role', 'i.expires_at as expiresAt', 'i.invited_by as invitedBy'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('emails as e')
          .select('e.id')
          .where('e.kind', '=', 'invitation')
          .whereRef('e.account_id', '=', 'i.account_id')
          .whereRef('e.recipient', '=', 'i.email'),
      )
        .$castTo<boolean>()
        .as('emailWaiting'),
    )
    .where('i.account_id', '=', accountId)
    .where('i.sets_password', '=', false)
    .where('i.expires_at', '>', sql<Date>`now()`)
    .orderBy('i.email')
    .execute()
}
