import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { generateKey } from '../../../account/generate-key.ts'
import { getApiAccess } from '../../../account/get-api-access.ts'
import { regenerateKey } from '../../../account/regenerate-key.ts'
import { revokeKey } from '../../../account/revoke-key.ts'
import { setAllowList } from '../../../account/set-allow-list.ts'
import { updateAccount } from '../../../account/update-account.ts'
import type { VerbsOf } from './verb.ts'

export const publicApiVerbs: VerbsOf<SettingsContracts['settings']['publicApi']> = {
  get: (deps, { address }, { accountId }) => getApiAccess(deps, accountId, address),
  setAccess: async (deps, _call, { accountId, enabled }) => {
    const { api } = await updateAccount(deps, accountId, { apiEnabled: enabled })
    return { enabled: api === 'enabled' }
  },
  generateKey: (deps, _call, { accountId }) => generateKey(deps, accountId),
  regenerateKey: (deps, _call, { accountId }) => regenerateKey(deps, accountId),
  revokeKey: (deps, _call, { accountId }) => revokeKey(deps, accountId),
  setAllowList: (deps, _call, { accountId, allowList }) => setAllowList(deps, accountId, allowList),
}
