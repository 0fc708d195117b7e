import type { Template } from '../../contracts/api/template.ts'
import type { CommandContracts } from '../../contracts/operator/index.ts'
import type { Deps } from '../deps.ts'
import type { SettingsCall } from '../http/dashboard/authorize.ts'
import { recordDisplacementIn } from '../http/displacement.ts'
import { deleteMedia, getMedia } from '../media/media.ts'
import { getMessage } from '../messages/queries/get.ts'
import { listMessages } from '../messages/queries/list.ts'
import type { HandlersOf } from '../pipeline/procedures.ts'
import { listTemplates } from '../templates/list.ts'
import { addWhatsAppAccount } from '../whatsapp-accounts/add.ts'
import { submitTemplateFile } from './template-files/submit.ts'

/** The handlers of the procedures that only the command line serves. */
export const commandHandlers: HandlersOf<CommandContracts, SettingsCall> = {
  media: {
    get: (deps, _call, { accountId, mediaId }) => getMedia(deps, { accountId }, { mediaId }),
    delete: (deps, _call, { accountId, mediaId }) => deleteMedia(deps, { accountId }, { mediaId }),
  },
  message: {
    get: (deps, _call, { accountId, messageId }) => getMessage(deps, { accountId }, { messageId }),
    list: (deps, _call, { accountId, ...filter }) => listMessages(deps, { accountId }, filter),
  },
  template: {
    list: async (deps, _call, { accountId, whatsAppAccountId, status }) => ({
      items: await listAllTemplates(deps, accountId, { status, accountId: whatsAppAccountId }),
    }),
    create: (deps, _call, { template, ...target }) => submitTemplateFile(deps, target, 'create', template),
    update: (deps, _call, { template, ...target }) => submitTemplateFile(deps, target, 'update', template),
  },
  whatsAppAccount: {
    add: (deps, _call, { accountId, ...input }) =>
      addWhatsAppAccount(deps, accountId, input, recordDisplacementIn(deps)),
  },
}

const pageSize = 100

async function listAllTemplates(
  deps: Deps,
  accountId: string,
  filter: { status: string | undefined; accountId: string | undefined },
): Promise<Template[]> {
  const items: Template[] = []
  let cursor: string | undefined
  do {
    const page = await listTemplates(deps, { accountId }, { ...filter, cursor, limit: pageSize })
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}
