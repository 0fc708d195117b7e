import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { SettingsError } from '../../contracts/settings/errors.ts'
import { Email, type acceptInvitation as contract, type Invitation } from '../../contracts/settings/owner.ts'
import { requireAccount } from '../account/account.ts'
import { OperatorError } from '../account/operator-error.ts'
import type { Role } from '../../contracts/settings/procedure.ts'
import type { Deps } from '../deps.ts'
import type { OwnerAuth } from './owner-auth.ts'
import { findInvitation, findOwnerByEmail, insertInvitation, saveRole, spendInvitation } from './store.ts'

const tokenBytes = 32
const lasts = '1 day'

export interface IssuedInvitation {
  email: string
  role: Role
  /** The path of the link, below the address of this server. */
  path: string
  expiresAt: string
}

/**
 * Lets a person into an account: a new one by a link, valid once and for a day; one who can sign in
 * already gets a link too, which leads them to their account once the role is theirs.
 */
export async function inviteOwner(
  deps: Pick<Deps, 'db' | 'randomBytes'>,
  accountId: string,
  { email: given, role }: { email: string; role: Role },
): Promise<IssuedInvitation> {
  await requireAccount(deps.db, accountId)
  const email = Email.safeParse(given)
  if (!email.success) throw new OperatorError(`--email ${email.error.issues[0]?.message ?? 'is not valid'}.`)
  const token = Buffer.from(deps.randomBytes(tokenBytes)).toString('base64url')
  const { expires_at } = await insertInvitation(deps.db, {
    token_hash: hash(token),
    account_id: accountId,
    email: email.data,
    role,
    lasts,
  })
  return { email: email.data, role, path: `/settings/invitation/${token}`, expiresAt: expires_at.toISOString() }
}

export async function readInvitation(deps: Pick<Deps, 'db'>, token: string): Promise<z.output<typeof Invitation>> {
  const invitation = await findInvitation(deps.db, hash(token))
  if (!invitation) throw spent()
  return {
    accountName: invitation.account_name,
    email: invitation.email,
    role: invitation.role,
    expiresAt: invitation.expires_at.toISOString(),
  }
}

/** Whoever has signed in before proves by their password that they are the one who was invited. */
export async function acceptInvitation(
  deps: Pick<Deps, 'db'>,
  ownerAuth: Pick<OwnerAuth, 'createOwner' | 'checkPassword'>,
  { token, name, password }: z.output<(typeof contract)['input']>,
): Promise<{ email: string }> {
  const invitation = await findInvitation(deps.db, hash(token))
  if (!invitation) throw spent()
  const known = await findOwnerByEmail(deps.db, invitation.email)
  if (known && !(await ownerAuth.checkPassword(known.id, password)))
    throw new SettingsError(
      'VALIDATION_ERROR',
      'There is an owner with this e-mail address already: give the password that you sign in with.',
      { password: 'must be the one that you sign in with: there is an owner with this e-mail address already' },
    )
  if (!(await spendInvitation(deps.db, hash(token)))) throw spent()
  const ownerId = known?.id ?? (await ownerAuth.createOwner({ email: invitation.email, name, password })).ownerId
  await saveRole(deps.db, { account_id: invitation.account_id, owner_id: ownerId, role: invitation.role })
  return { email: invitation.email }
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function spent(): SettingsError {
  return new SettingsError(
    'NOT_FOUND',
    'This invitation was used or has expired. Ask whoever runs this server for a new one.',
  )
}
