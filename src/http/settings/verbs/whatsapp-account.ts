import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { activateWhatsAppAccount } from '../../../account/activate-whatsapp-account.ts'
import { addWhatsAppAccount } from '../../../account/add-whatsapp-account.ts'
import { deactivateWhatsAppAccount } from '../../../account/deactivate-whatsapp-account.ts'
import { listWhatsAppAccounts } from '../../../account/list-whatsapp-accounts.ts'
import { removeWhatsAppAccount } from '../../../account/remove-whatsapp-account.ts'
import { replaceSecrets } from '../../../account/replace-secrets.ts'
import { setDefaultWhatsAppAccount } from '../../../account/set-default-whatsapp-account.ts'
import { testWhatsAppAccount } from '../../../account/test-whatsapp-account.ts'
import type { VerbsOf } from './verb.ts'

export const whatsAppAccountVerbs: VerbsOf<SettingsContracts['settings']['whatsAppAccount']> = {
  list: async (deps, _call, { accountId }) => ({ items: await listWhatsAppAccounts(deps, accountId) }),
  add: (deps, _call, { accountId, ...input }) => addWhatsAppAccount(deps, accountId, input),
  test: (deps, _call, { accountId, whatsAppAccountId }) => testWhatsAppAccount(deps, accountId, whatsAppAccountId),
  replaceSecrets: (deps, _call, { accountId, whatsAppAccountId, ...secrets }) =>
    replaceSecrets(deps, accountId, whatsAppAccountId, secrets),
  setDefault: (deps, _call, { accountId, whatsAppAccountId }) =>
    setDefaultWhatsAppAccount(deps, accountId, whatsAppAccountId),
  activate: (deps, _call, { accountId, whatsAppAccountId }) =>
    activateWhatsAppAccount(deps, accountId, whatsAppAccountId),
  deactivate: (deps, _call, { accountId, whatsAppAccountId }) =>
    deactivateWhatsAppAccount(deps, accountId, whatsAppAccountId),
  remove: async (deps, _call, { accountId, whatsAppAccountId }) => {
    await removeWhatsAppAccount(deps, accountId, whatsAppAccountId)
    return { removed: true }
  },
}
