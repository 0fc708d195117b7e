import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { listAudit } from '../../../owner/audit.ts'
import { acceptInvitation, readInvitation } from '../../../owner/invitation.ts'
import { findMemberships } from '../../../owner/store.ts'
import type { VerbsOf } from './verb.ts'

/** Who is signed in, how one gets in, and what was changed. */
export const ownerVerbs: VerbsOf<Pick<SettingsContracts['settings'], 'session' | 'invitation' | 'audit'>> = {
  session: {
    get: async ({ db }, call) => {
      const { ownerId, name, email, twoFactor } = call.person()
      return { name, email, twoFactor, accounts: await findMemberships(db, ownerId), address: call.address }
    },
    options: (_deps, { oidc }) => Promise.resolve(oidc ? { organisation: new URL(oidc.issuer).host } : {}),
  },
  invitation: {
    get: (deps, _call, { token }) => readInvitation(deps, token),
    accept: (deps, door, input) => acceptInvitation(deps, door, input),
  },
  audit: { list: (deps, _call, input) => listAudit(deps, input) },
}
