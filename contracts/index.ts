import { getAccountHealth } from './api/account.ts'
import { checkCode, sendCode } from './api/code.ts'
import { listEvents } from './api/event.ts'
import { deleteMedia, getMedia, importMedia, uploadMedia } from './api/media.ts'
import { exportMessages, getMessage, listMessages, previewMessage, sendMessage } from './api/message.ts'
import { addSuppression, importSuppressions, listSuppressions, removeSuppression } from './api/suppression.ts'
import { createTemplate, deleteTemplate, duplicateTemplate, updateTemplate } from './api/template-changes.ts'
import { getTemplate, listTemplates } from './api/template.ts'
import type { ApiProcedure, ProcedureTree } from './procedure.ts'

/** All procedures of the public API, nested like its tRPC router. */
export const contracts = {
  message: { send: sendMessage, preview: previewMessage, get: getMessage, list: listMessages },
  code: { send: sendCode, check: checkCode },
  template: {
    get: getTemplate,
    list: listTemplates,
    create: createTemplate,
    update: updateTemplate,
    delete: deleteTemplate,
    duplicate: duplicateTemplate,
  },
  event: { list: listEvents },
  suppression: {
    list: listSuppressions,
    add: addSuppression,
    remove: removeSuppression,
    import: importSuppressions,
  },
  account: { health: getAccountHealth },
  media: { import: importMedia, get: getMedia, delete: deleteMedia },
} satisfies ProcedureTree<ApiProcedure>
export type Contracts = typeof contracts

/** The procedures that REST serves and `openapi.json` describes: the same, plus files, which tRPC cannot carry. */
export const restContracts = {
  ...contracts,
  message: { ...contracts.message, export: exportMessages },
  media: { upload: uploadMedia, ...contracts.media },
} satisfies ProcedureTree<ApiProcedure>
