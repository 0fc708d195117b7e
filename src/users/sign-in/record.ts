import { changes } from '../../../contracts/facts/changes.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import type { AuditDeps } from '../audit/append.ts'
import { recordOwnChange } from '../audit/audit.ts'
import { normalizeEmail } from '../member.ts'
import { findUserByEmail } from '../store.ts'
import { type Lockout, lockoutEntryAttempts, takeAttempt } from './login-throttle.ts'

export type SignInOutcome = 'done' | 'refused' | 'locked'

export interface SignIn {
  /** The address as entered. */
  email: string
  address: string
  what: Fact
  outcome: SignInOutcome
}

/**
 * Records a sign-in in the audit log of each of the user's accounts. A sign-in with an unknown address belongs to no
 * account. It is only logged, without the address, because people sometimes type their password into that field.
 */
export async function recordSignIn(deps: AuditDeps, { email: typed, address, what, outcome }: SignIn): Promise<void> {
  const email = normalizeEmail(typed)
  // PostgreSQL rejects NUL, and no address contains it.
  const user = email.includes('\0') ? undefined : await findUserByEmail(deps.db, email)
  if (!user) {
    deps.log.info({ address, outcome }, 'rejected a sign-in with an unknown email address')
    return
  }
  const entry = { what, address, outcome: outcome === 'done' ? ('done' as const) : ('refused' as const) }
  await recordOwnChange(deps, { userId: user.id, email }, entry)
}

/** Records each lockout once, up to a limit per user. Returns whether the lockout is new. */
export async function recordLockout(
  deps: AuditDeps,
  { email, address }: Pick<SignIn, 'email' | 'address'>,
  { isFirst }: Lockout,
): Promise<boolean> {
  if (!isFirst) return false
  if (await takeAttempt(deps, lockoutEntryAttempts, email)) return true
  await recordSignIn(deps, { email, address, what: changes.signIn.lockedOut(), outcome: 'locked' })
  return true
}
