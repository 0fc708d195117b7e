import { z } from 'zod'
import {
  namedObject,
  namedStrictObject,
  WhatsAppAccountId,
  LanguageCode,
  responseField,
  TemplateName,
  withExample,
} from '../fields.ts'
import { changes, templateDeletion } from '../facts/changes.ts'
import { procedure } from '../procedure.ts'
import { NewTemplateName, templateDefinitionShape, TemplateSample } from '../templates/definition.ts'

export const TemplateChange = namedObject('TemplateChange', 'A template after a change.', {
  name: responseField(TemplateName),
  language: responseField(LanguageCode),
  templateId: withExample(z.string(), "WhatsApp's ID of the template.", '1304694804498707'),
  status: withExample(z.string(), 'Approval status as WhatsApp names it: `PENDING` until the review ends.', 'PENDING'),
  category: withExample(
    z.string().optional(),
    'The category that WhatsApp assigned, which can differ from the one in the request.',
    'UTILITY',
  ),
  changed: z
    .boolean()
    .describe('False if WhatsApp had this template already, for example because a request was repeated.'),
  notice: withExample(
    z.string().optional(),
    'What to know about it, such as a category that WhatsApp changed.',
    'WhatsApp changed the category from UTILITY to MARKETING. Messages are charged and limited accordingly.',
  ),
})
export type TemplateChange = z.infer<typeof TemplateChange>

const TemplateAccountId = WhatsAppAccountId.describe(
  'ID of the WhatsApp account whose templates are changed. When absent, the default account is used.',
)

const errors = [
  'TEMPLATE_CHANGES_DISABLED',
  'NO_ACTIVE_ACCOUNT',
  'TEMPLATE_REFUSED',
  'WHATSAPP_THROTTLED',
  'WHATSAPP_UNAVAILABLE',
] as const

/**
 * The sandbox does not have a template of this name, so the example can be tried there. The templates of the other examples
 * exist, and nothing else uses those that are changed and deleted.
 */
const example = {
  name: 'order_ready',
  language: 'en',
  category: 'UTILITY',
  body: { text: 'Hello {{1}}, your order {{2}} is ready for pickup.', examples: { '1': 'Ada', '2': 'WB-1042' } },
  footer: 'Waybill Demo Shop',
} as const

const pending = {
  name: 'order_ready',
  language: 'en',
  templateId: '1304694804498707',
  status: 'PENDING',
  category: 'UTILITY',
  changed: true,
}

const invalid = 'body.text: must not end with a variable: put words or a full stop after it.'

export const createTemplate = procedure({
  kind: 'mutation',
  budget: 'creations',
  permission: 'template changes',
  audit: changes.createTemplate,
  path: '/api/v1/template/create',
  tag: 'Templates',
  summary: 'Create a template and submit it for review',
  description:
    'Checks the template with the rules of WhatsApp, uploads its samples, and submits it. It is `PENDING` until WhatsApp has reviewed it; the webhooks `template.approved` and `template.rejected` report the result. A repeated request creates nothing twice.',
  input: namedStrictObject('CreateTemplateRequest', 'A template to create.', {
    ...templateDefinitionShape,
    accountId: TemplateAccountId.optional(),
  }),
  output: TemplateChange,
  errors: [...errors, 'TEMPLATE_EXISTS'],
  example: { input: example, output: pending, errors: { VALIDATION_ERROR: invalid } },
})

export const updateTemplate = procedure({
  kind: 'mutation',
  budget: 'checks',
  permission: 'template changes',
  audit: changes.updateTemplate,
  path: '/api/v1/template/update',
  tag: 'Templates',
  summary: 'Replace the content of a template',
  description:
    'Replaces everything but the name and the language, and submits the template again. WhatsApp allows it for templates that are APPROVED, REJECTED or PAUSED; an approved one can be changed once in 24 hours and ten times in 30 days, and keeps its category. A request that changes nothing asks WhatsApp nothing.',
  input: namedStrictObject('UpdateTemplateRequest', 'The new content of a template.', {
    ...templateDefinitionShape,
    accountId: TemplateAccountId.optional(),
  }),
  output: TemplateChange,
  errors: [...errors, 'TEMPLATE_NOT_FOUND'],
  example: {
    input: { ...example, name: 'order_delayed' },
    output: { ...pending, name: 'order_delayed' },
    errors: {
      VALIDATION_ERROR: invalid,
      TEMPLATE_NOT_FOUND: 'There is no template "order_delaid" in language en. Did you mean order_delayed?',
    },
  },
})

export const deleteTemplate = procedure({
  kind: 'mutation',
  budget: 'checks',
  permission: 'template changes',
  audit: templateDeletion,
  path: '/api/v1/template/delete',
  tag: 'Templates',
  summary: 'Delete a template in one language, or in all',
  description:
    'Deletes the template at WhatsApp. Messages that were sent but not delivered yet are tried for 30 more days. WhatsApp does not accept a new template of the same name and language for some weeks. A repeated request deletes nothing twice.',
  input: namedStrictObject('DeleteTemplateRequest', 'A template to delete.', {
    name: TemplateName,
    language: LanguageCode.optional().describe('The language to delete; leave it out only with `allLanguages`.'),
    allLanguages: z.boolean().optional().describe('Deletes every language of the name. Default: false.'),
    accountId: TemplateAccountId.optional(),
  }),
  output: namedObject('DeletedTemplate', 'What was deleted.', {
    name: responseField(TemplateName),
    languages: withExample(z.array(z.string()), 'The languages that were deleted; empty if there was none left.', [
      'en',
    ]),
  }),
  errors: [...errors, 'TEMPLATE_NOT_FOUND'],
  example: {
    input: { name: 'invoice_ready', language: 'en' },
    output: { name: 'invoice_ready', languages: ['en'] },
    errors: {
      VALIDATION_ERROR: 'language: is required, or set allLanguages to true.',
      TEMPLATE_NOT_FOUND: 'There is no template "order_delaid" in language en. Did you mean order_delayed?',
    },
  },
})

export const duplicateTemplate = procedure({
  kind: 'mutation',
  budget: 'creations',
  permission: 'template changes',
  audit: changes.duplicateTemplate,
  path: '/api/v1/template/duplicate',
  tag: 'Templates',
  summary: 'Copy a template under another name, language or WhatsApp account',
  description:
    'Creates a template with the content of another one, and submits it for review. A header with a file takes the sample of the original, as long as WhatsApp still serves it, or the `sample` of the request.',
  input: namedStrictObject('DuplicateTemplateRequest', 'A template to copy.', {
    name: TemplateName,
    language: LanguageCode,
    newName: NewTemplateName.optional().describe('Name of the copy; by default, the same name.'),
    newLanguage: LanguageCode.optional().describe('Language of the copy; by default, the same language.'),
    toAccountId: WhatsAppAccountId.optional().describe(
      'ID of the WhatsApp account that gets the copy; by default, the same.',
    ),
    sample: TemplateSample.optional().describe('Sample of the header, in place of that of the original.'),
    accountId: WhatsAppAccountId.optional().describe(
      'ID of the WhatsApp account that has the original. When absent, the default account is used.',
    ),
  }),
  output: TemplateChange,
  errors: [...errors, 'TEMPLATE_EXISTS', 'TEMPLATE_NOT_FOUND'],
  example: {
    input: { name: 'order_shipped', language: 'en', newName: 'order_shipped_2' },
    output: { ...pending, name: 'order_shipped_2' },
    errors: {
      VALIDATION_ERROR: 'newName: the copy needs another name, language or WhatsApp account.',
      TEMPLATE_NOT_FOUND: 'There is no template "order_shiped" in language en. Did you mean order_shipped?',
    },
  },
})
