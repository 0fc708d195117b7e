import type { AuditDeps } from '../audit/append.ts'
import { recordOwnChange } from '../audit/audit.ts'
import { normalizeEmail } from '../member.ts'
import { findOwnerByEmail } from '../store.ts'
import { type Lock, lockEntryAttempts, takeAttempt } from './login-throttle.ts'

export type SignInOutcome = 'done' | 'refused' | 'locked'

export interface SignIn {
  /** As it was typed. */
  email: string
  address: string
  what: string
  outcome: SignInOutcome
}

/**
 * Writes a sign-in to the audit log of each account of the person. One for an address that nobody has belongs to no
 * account: the log says that there was one, and not for whom, since people type passwords into the wrong field.
 */
export async function recordSignIn(deps: AuditDeps, { email: typed, address, what, outcome }: SignIn): Promise<void> {
  const email = normalizeEmail(typed)
  // PostgreSQL takes no NUL, and nobody has such an address.
  const owner = email.includes('\0') ? undefined : await findOwnerByEmail(deps.db, email)
  if (!owner) {
    deps.log.info({ address, outcome }, 'a sign-in for an e-mail address that nobody has was refused')
    return
  }
  const entry = { what, address, outcome: outcome === 'done' ? ('done' as const) : ('refused' as const) }
  await recordOwnChange(deps, { ownerId: owner.id, email }, entry)
}

/** Once for each lock, and for no more locks than a person's log can bear. */
export async function recordLock(
  deps: AuditDeps,
  { email, address }: Pick<SignIn, 'email' | 'address'>,
  { begins }: Lock,
): Promise<boolean> {
  if (!begins) return false
  if (await takeAttempt(deps, lockEntryAttempts, email)) return true
  await recordSignIn(deps, { email, address, what: 'was locked out after too many attempts', outcome: 'locked' })
  return true
}
