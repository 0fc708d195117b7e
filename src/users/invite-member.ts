import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { errorFacts } from '../../contracts/facts/errors.ts'
import type { PendingInvitation, SentInvitation } from '../../contracts/dashboard/member.ts'
import { invalidField, ServiceError } from '../../contracts/errors.ts'
import type { Role } from '../../contracts/procedure.ts'
import { requireAccount } from '../accounts/account.ts'
import { emailSettingsUrl } from '../accounts/alert-rules.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { deleteWaitingEmails, enqueueEmails } from '../platform/email/outbox.ts'
import { writeInvitation } from './emails.ts'
import { inviteUser, type IssuedInvitation } from './invitation.ts'
import { findMember } from './member.ts'
import { type AttemptLimit, consumeAttempt } from './sign-in/login-throttle.ts'
import { deleteInvitation, findInvitations, lockOwners } from './store.ts'

/** Limits the emails that an account can have this server send. */
const invitationsPerAccount: AttemptLimit = { name: 'invitation of account', max: 50, seconds: 3600 }
/** Limits the emails of an account to one address, so that no account uses up the limit of the address alone. */
const invitationsPerRecipient: AttemptLimit = { name: 'invitation of account to address', max: 5, seconds: 3600 }
/** Limits the emails to one address, whichever accounts send them. */
const invitationsPerAddress: AttemptLimit = { name: 'invitation to address', max: 20, seconds: 3600 }

type InviteDeps = Pick<Deps, 'db' | 'secrets' | 'newId' | 'randomBytes' | 'mail' | 'publicUrl' | 'notifications'>

/**
 * Invites somebody on behalf of an owner of the account. The link is sent by email, which proves the address. Without
 * an SMTP server, the owner gets the link and passes it on.
 */
export async function inviteMember(
  deps: InviteDeps,
  { accountId, invitedBy }: { accountId: string; invitedBy: string },
  { email, role }: { email: string; role: Role },
): Promise<z.output<typeof SentInvitation>> {
  await assertMayInvite(deps, accountId, email)
  const sent = await deps.db.transaction().execute(async (db) => {
    await assertStillOwner(db, accountId, invitedBy)
    return createInvitation({ ...deps, db }, { accountId, invitedBy }, { email, role })
  })
  notifyMailer(deps)
  return sent
}

/** A removal of the owner at this moment deletes the invitation, or has happened before the lock. */
async function assertStillOwner(trx: Kysely<Database>, accountId: string, email: string): Promise<void> {
  await lockOwners(trx, accountId)
  const member = await findMember(trx, accountId, email)
  if (member?.role !== 'owner') throw new ServiceError('ROLE_REQUIRED', errorFacts.viewer())
}

/** Also counts the invitation towards the limits. */
export async function assertMayInvite(deps: Pick<Deps, 'db'>, accountId: string, email: string): Promise<void> {
  if (await findMember(deps.db, accountId, email)) throw invalidField('email', errorFacts.memberAlready())
  const lock =
    (await consumeAttempt(deps, invitationsPerAccount, accountId)) ??
    (await consumeAttempt(deps, invitationsPerRecipient, `${accountId} ${email}`)) ??
    (await consumeAttempt(deps, invitationsPerAddress, email))
  if (lock)
    throw new ServiceError('RATE_LIMIT_EXCEEDED', errorFacts.tooManyInvitations(), {
      retryAfterSeconds: lock.secondsLeft,
    })
}

/** Call it in a transaction, so that the invitation is rolled back if its email cannot be queued. */
export async function createInvitation(
  deps: Omit<InviteDeps, 'notifications'>,
  { accountId, invitedBy }: { accountId: string; invitedBy: string },
  { email, role }: { email: string; role: Role },
): Promise<z.output<typeof SentInvitation>> {
  const provesEmail = deps.mail !== undefined
  const issued = await inviteUser(deps, accountId, { email, role, invitedBy, provesEmail })
  if (provesEmail) await mailInvitation(deps, accountId, { issued, invitedBy })
  const sent = { email: issued.email, role, expiresAt: issued.expiresAt }
  return provesEmail ? sent : { ...sent, link: new URL(issued.path, deps.publicUrl).href }
}

/** Call it after the transaction has ended. */
export function notifyMailer({ mail, notifications }: Pick<Deps, 'mail' | 'notifications'>): void {
  if (mail) notifications.notify('emails')
}

/** Puts the email of an invitation into the outbox, and deletes an earlier one whose link is no longer valid. */
export async function mailInvitation(
  deps: Pick<Deps, 'db' | 'secrets' | 'newId' | 'publicUrl'>,
  accountId: string,
  { issued: { email, role, path, expiresAt }, invitedBy }: { issued: IssuedInvitation; invitedBy: string | undefined },
): Promise<void> {
  const { name } = await requireAccount(deps.db, accountId)
  await deleteWaitingEmails(deps.db, { accountId, kind: 'invitation', to: email })
  const expires = new Date(expiresAt)
  // Uses the configured URL, never the host of a request.
  const link = new URL(path, deps.publicUrl).href
  const content = writeInvitation({
    accountName: name,
    role,
    invitedBy,
    link,
    expiresAt: expires,
    emailSettingsUrl: emailSettingsUrl(deps.publicUrl, accountId),
  })
  const mail = { kind: 'invitation' as const, accountId, to: email, validSeconds: invitationSeconds, ...content }
  if (!(await enqueueEmails(deps, [mail])))
    throw new ServiceError('SERVICE_UNAVAILABLE', errorFacts.tooManyEmails(), {
      retryAfterSeconds: 60,
    })
}

const invitationSeconds = 24 * 3600

export async function listInvitations(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
): Promise<z.output<typeof PendingInvitation>[]> {
  const rows = await findInvitations(db, accountId)
  return rows.map(({ email, role, expiresAt, invitedBy, emailWaiting }) => ({
    email,
    role,
    expiresAt: expiresAt.toISOString(),
    ...(invitedBy !== null && { invitedBy }),
    emailWaiting,
  }))
}

export async function revokeInvitation({ db }: Pick<Deps, 'db'>, accountId: string, email: string): Promise<void> {
  if (await deleteInvitation(db, accountId, email, { keepPasswordLink: true })) return
  throw new ServiceError('NOT_FOUND', errorFacts.invitationOver())
}
