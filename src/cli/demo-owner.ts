import type { Deps } from '../deps.ts'
import { createOwnerAuth } from '../owner/owner-auth.ts'
import { findOwnerByEmail, saveRole } from '../owner/store.ts'

/** Nobody reads e-mail there (RFC 2606). */
const email = 'demo@example.com'

/** The owner of the demo account, who has no password. Returns the path of a link that signs them in, once. */
export async function prepareDemoOwner(deps: Deps, accountId: string, publicUrl: string): Promise<string> {
  const ownerAuth = createOwnerAuth(deps, { publicUrl, oidc: undefined, signInLinks: true })
  const { id: ownerId } =
    (await findOwnerByEmail(deps.db, email)) ?? toId(await ownerAuth.createOwner({ email, name: 'Demo owner' }))
  await saveRole(deps.db, { account_id: accountId, owner_id: ownerId, role: 'owner' })
  return ownerAuth.createSignInLink(email)
}

function toId({ ownerId }: { ownerId: string }): { id: string } {
  return { id: ownerId }
}
