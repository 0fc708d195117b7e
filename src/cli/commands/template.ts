import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import type { Template } from '../../../contracts/api/template.ts'
import { deleteTemplate, duplicateTemplate } from '../../../contracts/dashboard/template-changes.ts'
import { syncTemplates } from '../../../contracts/dashboard/template.ts'
import { createTemplate, listTemplates, updateTemplate } from '../../../contracts/command-line/account-resources.ts'
import { contractCommand } from '../contract-command.ts'
import { formatTable } from '../help.ts'
import { readTemplateFile } from '../template-files/file.ts'
import { waybill } from '../failure.ts'

const target = {
  'whatsapp-account': {
    value: 'WA',
    help: 'Change the templates of this WhatsApp account instead of the default one',
    field: 'whatsAppAccountId',
  },
} as const

const fileOption = {
  file: {
    value: 'FILE',
    help: 'The template as YAML or JSON',
    field: 'template',
    load: readTemplateFile,
    read: (content: string): unknown => JSON.parse(content),
  },
  ...target,
} as const

export const templateCommands = [
  contractCommand(syncTemplates, {
    name: 'template sync',
    summary: 'Sync the templates of an account from WhatsApp',
    args: { ACC: 'accountId' },
    notes: [
      'Stores all templates, or none if WhatsApp cannot be read. Templates that WhatsApp no longer lists cannot be sent.',
    ],
    examples: ['waybill template sync acc_…'],
    text: ({ synced, approved }) => `Synced ${synced} templates, ${approved} of them approved.`,
  }),
  contractCommand(listTemplates, {
    name: 'template list',
    summary: 'List the templates of an account with their category and what a send needs',
    args: { ACC: 'accountId' },
    options: {
      'whatsapp-account': {
        ...target['whatsapp-account'],
        help: 'Templates of this WhatsApp account instead of the default one',
      },
      status: { value: 'STATUS', help: 'Only templates with this status, such as APPROVED' },
    },
    examples: ['waybill template list acc_…', 'waybill template list acc_… --status APPROVED --json'],
    text: ({ items }, { ACC }) => formatTemplates(ACC, items),
  }),
  contractCommand(createTemplate, {
    name: 'template create',
    summary: 'Create a template and submit it for review',
    args: { ACC: 'accountId' },
    options: fileOption,
    notes: [
      'Checks the template with the rules of WhatsApp first. If the template already exists, nothing is created.',
    ],
    examples: ['waybill template create acc_… --file order_shipped.en.yaml'],
    text: (change) => describeChange('created', change),
  }),
  contractCommand(updateTemplate, {
    name: 'template update',
    summary: 'Replace the content of a template and submit it again',
    args: { ACC: 'accountId' },
    options: fileOption,
    examples: ['waybill template update acc_… --file order_shipped.en.yaml'],
    text: (change) => describeChange('changed', change),
  }),
  contractCommand(deleteTemplate, {
    name: 'template delete',
    summary: 'Delete a template in one language, or in all',
    args: { ACC: 'accountId', NAME: 'name' },
    options: {
      language: { value: 'CODE', help: 'The language to delete' },
      'all-languages': { help: 'Delete every language of the name' },
      ...target,
    },
    notes: ['WhatsApp does not accept a new template of the same name and language for some weeks.'],
    examples: [
      'waybill template delete acc_… order_shipped --language en',
      'waybill template delete acc_… order_shipped --all-languages',
    ],
    rejectedWith: 1,
    text: ({ languages }, { NAME }) =>
      languages.length === 0 ? 'It was already deleted.' : `Deleted ${NAME} (${languages.join(', ')}).`,
  }),
  contractCommand(duplicateTemplate, {
    name: 'template duplicate',
    summary: 'Copy a template under another name, language or WhatsApp account',
    args: { ACC: 'accountId', NAME: 'name', LANGUAGE: 'language' },
    options: {
      'new-name': { value: 'NAME', help: 'Name of the copy' },
      'new-language': { value: 'CODE', help: 'Language of the copy' },
      'to-whatsapp-account': {
        value: 'WA',
        help: 'WhatsApp account that gets the copy',
        field: 'toWhatsAppAccountId',
      },
      'sample-link': {
        value: 'URL',
        help: 'Sample of the header, in place of that of the original',
        field: 'sample',
        read: (link) => ({ link }),
      },
      ...target,
    },
    examples: ['waybill template duplicate acc_… order_shipped en --new-name order_shipped_2'],
    rejectedWith: 1,
    text: (change) => describeChange('created', change),
  }),
]

function describeChange(verb: string, change: TemplateChange): string {
  const template = `${change.name} (${change.language})`
  const text = change.changed
    ? `Template ${template} ${verb}: ${change.status}, ${change.category ?? 'no category'}.`
    : `WhatsApp already has ${template}: ${change.status}. Nothing was changed.`
  return change.notice === undefined ? text : `${text}\n${change.notice}`
}

function formatTemplates(accountId: string, items: Template[]): string {
  if (items.length === 0) return `No templates. Sync them from WhatsApp: ${waybill} template sync ${accountId}`
  return formatTable(
    ['NAME', 'LANGUAGE', 'STATUS', 'CATEGORY', 'HEADER', 'VARIABLES', 'SEND NEEDS', 'REASON'],
    items.map((item) => [
      item.name,
      item.language,
      item.status,
      item.category ?? '',
      item.components.find(({ type }) => type === 'HEADER')?.format ?? 'none',
      item.placeholders.map((placeholder) => placeholder.key).join(',') || 'none',
      listNeeded(item).join(','),
      item.reason ?? '',
    ]),
  )
}

/** The fields that fill the template, such as `variables` and `cards`. */
function listNeeded({ example }: Template): string[] {
  return Object.keys(example ?? {}).filter((field) => !['to', 'template', 'language'].includes(field))
}
