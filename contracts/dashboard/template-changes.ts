import { z } from 'zod'
import {
  deleteTemplate as deleteByKey,
  duplicateTemplate as duplicateByKey,
  TemplateChange,
} from '../api/template-changes.ts'
import { LanguageCode, singleLine, TemplateName } from '../fields.ts'
import { accountInput, dashboardProcedure, ownerCheck, viewerQuery } from '../procedure.ts'
import { TemplateDefinition } from '../templates/definition.ts'
import { sampleFormats } from '../templates/samples.ts'
import { changes, templateDeletion } from '../facts/changes.ts'

const whatsAppAccountId = singleLine(64).optional()
const submission = accountInput({ whatsAppAccountId, template: TemplateDefinition })

export const createTemplate = dashboardProcedure({
  kind: 'mutation',
  budget: 'creations',
  allowed: 'owner',
  summary: 'Create a template and submit it for review',
  input: submission,
  output: TemplateChange,
  audit: ({ template }) => changes.createTemplate(template),
})

export const updateTemplate = ownerCheck({
  summary: 'Replace the content of a template',
  input: submission,
  output: TemplateChange,
  audit: ({ template }) => changes.updateTemplate(template),
})

export const deleteTemplate = ownerCheck({
  summary: 'Delete a template in one language, or in all',
  input: accountInput({
    whatsAppAccountId,
    name: TemplateName,
    language: LanguageCode.optional(),
    allLanguages: z.boolean().optional(),
  }),
  output: deleteByKey.output,
  audit: templateDeletion,
})

export const duplicateTemplate = dashboardProcedure({
  kind: 'mutation',
  budget: 'creations',
  allowed: 'owner',
  summary: 'Copy a template under another name, language or WhatsApp account',
  input: accountInput({
    whatsAppAccountId,
    ...duplicateByKey.input.omit({ accountId: true, toAccountId: true }).shape,
    toWhatsAppAccountId: singleLine(64).optional(),
  }),
  output: TemplateChange,
  audit: changes.duplicateTemplate,
})

/** Returns the template for the editor. A template with parts that a definition cannot express is not editable. */
export const getTemplateDefinition = viewerQuery({
  summary: 'Read the editable definition of a template',
  input: accountInput({ whatsAppAccountId, name: TemplateName, language: LanguageCode }),
  output: z.object({
    definition: TemplateDefinition.optional(),
    /** Why there is no definition; absent if there is one. */
    reason: z.string().optional(),
  }),
})

export const samplesPath = '/settings/samples'

/**
 * Served at `samplesPath`, because tRPC cannot carry files. The input is in the query, and the file in the part `file` of a
 * multipart/form-data body.
 */
export const uploadTemplateSample = ownerCheck({
  summary: 'Upload the sample of a media header to WhatsApp',
  input: accountInput({ whatsAppAccountId, format: z.enum(sampleFormats) }),
  output: z.object({ handle: z.string() }),
  audit: ({ format }) => changes.uploadSample({ format: format.toLowerCase() }),
})
