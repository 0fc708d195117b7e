import { z } from 'zod'
import { deleteMedia as publicDelete, getMedia as publicGetMedia } from '../api/media.ts'
import { getMessage as publicGetMessage, listMessages as publicListMessages } from '../api/message.ts'
import { TemplateChange } from '../api/template-changes.ts'
import { Template } from '../api/template.ts'
import { addWhatsAppAccount as addVerified } from '../dashboard/whatsapp-account.ts'
import { accountAddition, changes } from '../facts/changes.ts'
import { accountInput, commandProcedure } from '../procedure.ts'
import { TemplateFile } from '../templates/file.ts'

export const getMedia = commandProcedure({
  kind: 'query',
  input: accountInput(publicGetMedia.input.shape),
  output: publicGetMedia.output,
})

export const deleteMedia = commandProcedure({
  kind: 'mutation',
  input: accountInput(publicDelete.input.shape),
  output: publicDelete.output,
  audit: changes.deleteMedia,
})

export const getMessage = commandProcedure({
  kind: 'query',
  input: accountInput(publicGetMessage.input.shape),
  output: publicGetMessage.output,
})

export const listMessages = commandProcedure({
  kind: 'query',
  input: accountInput(publicListMessages.input.shape),
  output: publicListMessages.output,
})

const whatsAppAccountId = z.string().optional()

/** Lists all templates at once. */
export const listTemplates = commandProcedure({
  kind: 'query',
  input: accountInput({ whatsAppAccountId, status: z.string().optional() }),
  output: z.object({ items: z.array(Template) }),
})

/** A sample can be a file on this machine, which a user of the dashboard could not name. */
const submission = accountInput({ whatsAppAccountId, template: TemplateFile })

export const createTemplate = commandProcedure({
  kind: 'mutation',
  input: submission,
  output: TemplateChange,
  audit: ({ template }) => changes.createTemplate(template),
})

export const updateTemplate = commandProcedure({
  kind: 'mutation',
  input: submission,
  output: TemplateChange,
  audit: ({ template }) => changes.updateTemplate(template),
})

export const addWhatsAppAccount = commandProcedure({
  kind: 'mutation',
  input: addVerified.input.extend({
    /** Stores the account without asking WhatsApp whether the token can use the number. */
    unverified: z.boolean().default(false),
  }),
  output: addVerified.output,
  audit: accountAddition,
})
