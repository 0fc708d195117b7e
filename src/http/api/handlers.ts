import type { Contracts } from '../../../contracts/index.ts'
import { readAccountHealth } from '../../whatsapp-accounts/health/read.ts'
import { checkCode } from '../../messages/codes/check-code.ts'
import { sendCode } from '../../messages/codes/send-code.ts'
import { getMessage, listMessages } from '../../messages/queries/read.ts'
import { deleteMedia, getMedia } from '../../media/media.ts'
import { importMedia } from '../../media/upload.ts'
import { preview } from '../../messages/send/prepare.ts'
import { send } from '../../messages/send/send.ts'
import {
  addSuppression,
  importSuppressions,
  listSuppressions,
  removeSuppression,
} from '../../messages/suppressions/suppressions.ts'
import { createTemplate, duplicateTemplate } from '../../templates/changes/create.ts'
import { deleteTemplate } from '../../templates/changes/delete.ts'
import { updateTemplate } from '../../templates/changes/update.ts'
import { getTemplate, listTemplates } from '../../templates/list.ts'
import { listEvents } from '../../webhooks/events.ts'
import type { ApiCall } from './authorize.ts'
import type { HandlersOf } from '../../pipeline/procedures.ts'

/** The handler of each procedure. A contract without a handler does not compile. */
export const apiHandlers: HandlersOf<Contracts, ApiCall> = {
  message: {
    send: (deps, call, input) => send(deps, call, input, call.idempotencyKey),
    preview: (deps, call, input) => preview(deps, call, input),
    get: (deps, call, input) => getMessage(deps, call, input),
    list: (deps, call, input) => listMessages(deps, call, input),
  },
  code: {
    send: (deps, call, input) => sendCode(deps, call, input, call.idempotencyKey),
    check: (deps, call, input) => checkCode(deps, call, input),
  },
  template: {
    get: (deps, call, input) => getTemplate(deps, call, input),
    list: (deps, call, input) => listTemplates(deps, call, input),
    create: (deps, call, input) => createTemplate(deps, call, input),
    update: (deps, call, input) => updateTemplate(deps, call, input),
    delete: (deps, call, input) => deleteTemplate(deps, call, input),
    duplicate: (deps, call, input) => duplicateTemplate(deps, call, input),
  },
  suppression: {
    list: (deps, call, input) => listSuppressions(deps, call, input),
    add: (deps, call, input) => addSuppression(deps, call, input),
    remove: (deps, call, input) => removeSuppression(deps, call, input),
    import: (deps, call, input) => importSuppressions(deps, call, input),
  },
  account: {
    health: (deps, { accountId }) => readAccountHealth(deps, accountId),
  },
  media: {
    import: (deps, call, input) => importMedia(deps, call, input),
    get: (deps, call, input) => getMedia(deps, call, input),
    delete: (deps, call, input) => deleteMedia(deps, call, input),
  },
  event: {
    list: (deps, call, input) => listEvents(deps, call, input),
  },
}
