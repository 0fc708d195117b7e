import { getAccountHealth } from './api/account.ts'
import { listEvents } from './api/event.ts'
import { getMessage, listMessages, previewMessage, sendMessage } from './api/message.ts'
import { getTemplate, listTemplates } from './api/template.ts'
import type { ApiProcedure, ProcedureTree } from './procedure.ts'

/** The table of contents: what Waybill promises, in the shape of its tRPC router. */
export const contracts = {
  message: { send: sendMessage, preview: previewMessage, get: getMessage, list: listMessages },
  template: { get: getTemplate, list: listTemplates },
  event: { list: listEvents },
  account: { health: getAccountHealth },
} satisfies ProcedureTree<ApiProcedure>
export type Contracts = typeof contracts
