import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { getOverview } from '../../../message/get-overview.ts'
import type { VerbsOf } from './verb.ts'

export const overviewVerbs: VerbsOf<SettingsContracts['settings']['overview']> = {
  get: (deps, _call, input) => getOverview(deps, input),
}
