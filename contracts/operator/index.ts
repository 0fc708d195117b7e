import type { CommandProcedure, ProcedureTree } from '../procedure.ts'
import { deleteMedia, getMedia } from './media.ts'
import { getMessage, listMessages } from './message.ts'
import { createTemplate, listTemplates, updateTemplate } from './template.ts'
import { addWhatsAppAccount } from './whatsapp-account.ts'

/** The procedures that only the command line serves. Its other commands call procedures of the dashboard. */
export const commandContracts = {
  media: { get: getMedia, delete: deleteMedia },
  message: { get: getMessage, list: listMessages },
  template: { list: listTemplates, create: createTemplate, update: updateTemplate },
  whatsAppAccount: { add: addWhatsAppAccount },
} satisfies ProcedureTree<CommandProcedure>
export type CommandContracts = typeof commandContracts
