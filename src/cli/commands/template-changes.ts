import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import { changes } from '../../../contracts/changes.ts'
import type { TemplateFile } from '../../../contracts/templates/file.ts'
import { requireAccount } from '../../accounts/account.ts'
import { deleteTemplate } from '../../templates/changes/delete.ts'
import { duplicateTemplate } from '../../templates/changes/duplicate.ts'
import { type CommandResult, dataCommand } from '../command.ts'
import { readTemplateFile } from '../template-files/file.ts'
import { submitTemplateFile } from '../template-files/submit.ts'

const target = {
  'whatsapp-account': { value: 'WA', help: 'Change the templates of this WhatsApp account instead of the default one' },
} as const

const fileOption = {
  file: { value: 'FILE', help: 'The template as YAML or JSON', required: true, read: readTemplateFile },
  ...target,
} as const

/** The file was read and checked where the command was typed. */
function readFile(content: string): TemplateFile {
  return JSON.parse(content) as TemplateFile
}

export const templateCreate = dataCommand({
  name: 'template create',
  summary: 'Create a template and submit it for review',
  args: ['ACC'],
  options: fileOption,
  notes: ['Checks the template with the rules of WhatsApp first. If the template already exists, nothing is created.'],
  examples: ['waybill template create acc_… --file order_shipped.en.yaml'],
  audit: ({ options }) => {
    const { name, language } = readFile(options.file)
    return changes.createTemplate(name, language)
  },
  run: async (deps, { args: [accountId], options }) => {
    await requireAccount(deps.db, accountId)
    const to = { accountId, whatsAppAccountId: options['whatsapp-account'] }
    return describeChange('created', await submitTemplateFile(deps, to, 'create', readFile(options.file)))
  },
})

export const templateUpdate = dataCommand({
  name: 'template update',
  summary: 'Replace the content of a template and submit it again',
  args: ['ACC'],
  options: fileOption,
  examples: ['waybill template update acc_… --file order_shipped.en.yaml'],
  audit: ({ options }) => {
    const { name, language } = readFile(options.file)
    return changes.updateTemplate(name, language)
  },
  run: async (deps, { args: [accountId], options }) => {
    await requireAccount(deps.db, accountId)
    const to = { accountId, whatsAppAccountId: options['whatsapp-account'] }
    return describeChange('changed', await submitTemplateFile(deps, to, 'update', readFile(options.file)))
  },
})

export const templateDelete = dataCommand({
  name: 'template delete',
  summary: 'Delete a template in one language, or in all',
  args: ['ACC', 'NAME'],
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
  audit: ({ args: [, name], options }) => changes.deleteTemplate(name, options.language),
  run: async (deps, { args: [accountId, name], options }) => {
    await requireAccount(deps.db, accountId)
    const { language, 'all-languages': allLanguages, 'whatsapp-account': whatsAppAccountId } = options
    const json = await deleteTemplate(deps, accountId, { name, language, allLanguages, accountId: whatsAppAccountId })
    const text =
      json.languages.length === 0 ? 'It was already deleted.' : `Deleted ${name} (${json.languages.join(', ')}).`
    return { json, text }
  },
})

export const templateDuplicate = dataCommand({
  name: 'template duplicate',
  summary: 'Copy a template under another name, language or WhatsApp account',
  args: ['ACC', 'NAME', 'LANGUAGE'],
  options: {
    'new-name': { value: 'NAME', help: 'Name of the copy' },
    'new-language': { value: 'CODE', help: 'Language of the copy' },
    'to-whatsapp-account': { value: 'WA', help: 'WhatsApp account that gets the copy' },
    'sample-link': { value: 'URL', help: 'Sample of the header, in place of that of the original' },
    ...target,
  },
  examples: ['waybill template duplicate acc_… order_shipped en --new-name order_shipped_2'],
  audit: ({ args: [, name, language] }) => changes.duplicateTemplate(name, language),
  run: async (deps, { args: [accountId, name, language], options }) => {
    await requireAccount(deps.db, accountId)
    const link = options['sample-link']
    const json = await duplicateTemplate(deps, accountId, {
      name,
      language,
      newName: options['new-name'],
      newLanguage: options['new-language'],
      toAccountId: options['to-whatsapp-account'],
      accountId: options['whatsapp-account'],
      ...(link !== undefined && { sample: { link } }),
    })
    return describeChange('created', json)
  },
})

function describeChange(verb: string, json: TemplateChange): CommandResult {
  const template = `${json.name} (${json.language})`
  const text = json.changed
    ? `Template ${template} ${verb}: ${json.status}, ${json.category ?? 'no category'}.`
    : `WhatsApp already has ${template}: ${json.status}. Nothing was changed.`
  return { json, text: json.notice === undefined ? text : `${text}\n${json.notice}` }
}
