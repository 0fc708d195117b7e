import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { listAudit } from '../../../owner/audit.ts'
import { acceptInvitation, readInvitation } from '../../../owner/invitation.ts'
import { findMemberships } from '../../../owner/store.ts'
import type { VerbsOf } from './verb.ts'

/** Who is signed in, how one gets in, and what was changed. */
export const ownerVerbs: VerbsOf<Pick<SettingsContracts['settings'], 'session' | 'invitation' | 'audit'>> = {
  session: {
    get: async ({ db }, call) => {
      const { ownerId, name, email } = call.person()
      return { name, email, accounts: await findMemberships(db, ownerId), address: call.address }
    },
  },
  invitation: {
    get: (deps, _call, { token }) => readInvitation(deps, token),
    accept: (deps, { ownerAuth }, input) => acceptInvitation(deps, ownerAuth, input),
  },
  audit: { list: (deps, _call, input) => listAudit(deps, input) },
}
