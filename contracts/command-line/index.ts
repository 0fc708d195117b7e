import type { CommandProcedure, ProcedureTree } from '../procedure.ts'
import { createAccount, listAccounts, resumeAccount, suspendAccount, updateAccount } from './account.ts'
import {
  addWhatsAppAccount,
  createTemplate,
  deleteMedia,
  getMedia,
  getMessage,
  listMessages,
  listTemplates,
  updateTemplate,
} from './account-resources.ts'
import { getRates, importRates, listRates, removeRates } from './rates.ts'
import {
  grantOperator,
  inviteMember,
  listMembers,
  listOperators,
  removeMember,
  resetPassword,
  revokeOperator,
} from './user.ts'

/** The procedures that only the command line serves. Its other commands call procedures of the dashboard. */
export const commandContracts = {
  account: {
    create: createAccount,
    update: updateAccount,
    list: listAccounts,
    suspend: suspendAccount,
    resume: resumeAccount,
  },
  member: { list: listMembers, invite: inviteMember, remove: removeMember, resetPassword },
  operator: { grant: grantOperator, revoke: revokeOperator, list: listOperators },
  rates: { import: importRates, list: listRates, get: getRates, remove: removeRates },
  media: { get: getMedia, delete: deleteMedia },
  message: { get: getMessage, list: listMessages },
  template: { list: listTemplates, create: createTemplate, update: updateTemplate },
  whatsAppAccount: { add: addWhatsAppAccount },
} satisfies ProcedureTree<CommandProcedure>
export type CommandContracts = typeof commandContracts
