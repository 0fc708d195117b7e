import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { sendTest } from '../../../message/send-test.ts'
import { listOwnTemplates } from '../../../template/list-own.ts'
import { syncTemplates } from '../../../template/sync.ts'
import type { VerbsOf } from './verb.ts'

export const templateVerbs: VerbsOf<SettingsContracts['settings']['template']> = {
  list: (deps, _call, input) => listOwnTemplates(deps, input),
  sync: (deps, _call, { accountId }) => syncTemplates(deps, accountId),
  sendTest: (deps, _call, { accountId, whatsAppAccountId, ...request }) =>
    sendTest(deps, { accountId }, { ...request, accountId: whatsAppAccountId }),
}
