import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { messageVerbs } from './message.ts'
import { overviewVerbs } from './overview.ts'
import { ownerVerbs } from './owner.ts'
import { publicApiVerbs } from './public-api.ts'
import { templateVerbs } from './template.ts'
import type { VerbsOf } from './verb.ts'
import { webhookVerbs } from './webhook.ts'
import { whatsAppAccountVerbs } from './whatsapp-account.ts'

/** What each procedure of the dashboard does. One that is in the contracts and not here does not compile. */
export const settingsVerbs: VerbsOf<SettingsContracts> = {
  settings: {
    ...ownerVerbs,
    publicApi: publicApiVerbs,
    whatsAppAccount: whatsAppAccountVerbs,
    template: templateVerbs,
    message: messageVerbs,
    overview: overviewVerbs,
    webhook: webhookVerbs,
  },
}
