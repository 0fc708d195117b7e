import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { getMessageHistory } from '../../../message/get-history.ts'
import { listMessages } from '../../../message/list.ts'
import type { VerbsOf } from './verb.ts'

export const messageVerbs: VerbsOf<SettingsContracts['settings']['message']> = {
  list: (deps, _call, { accountId, ...filter }) => listMessages(deps, { accountId }, filter),
  get: (deps, _call, input) => getMessageHistory(deps, input),
}
