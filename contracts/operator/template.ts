import { z } from 'zod'
import { TemplateChange } from '../api/template-changes.ts'
import { Template } from '../api/template.ts'
import { changes } from '../facts/changes.ts'
import { commandProcedure, ofAccount } from '../procedure.ts'
import { TemplateFile } from '../templates/file.ts'

const whatsAppAccountId = z.string().optional()

/** Lists all templates at once. */
export const listTemplates = commandProcedure({
  kind: 'query',
  input: ofAccount({ whatsAppAccountId, status: z.string().optional() }),
  output: z.object({ items: z.array(Template) }),
})

/** A sample can be a file on this machine, which a user of the dashboard could not name. */
const submission = ofAccount({ whatsAppAccountId, template: TemplateFile })

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
