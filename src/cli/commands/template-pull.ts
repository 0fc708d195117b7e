import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { writeTemplateFileSchema } from '../../../contracts/templates/file.ts'
import type { ExportedTemplates } from '../../templates/changes/definition.ts'
import { replaceFile } from '../../platform/files.ts'
import { localCommand } from '../command.ts'
import { runDataCommand } from '../run-data-command.ts'
import { nameTemplateFile, printTemplateFile, schemaFileName } from '../template-files/file.ts'
import { templateExport } from './template-files.ts'

export const templatePull = localCommand({
  name: 'template pull',
  summary: 'Write the templates of an account to files, one YAML file each',
  args: ['ACC', 'DIR'],
  options: {
    'whatsapp-account': { value: 'WA', help: 'Templates of this WhatsApp account instead of the default one' },
  },
  notes: [
    'Reads the templates from WhatsApp first. Files of other templates stay. WhatsApp does not return the samples of headers:\nadd them before you push a file to another account.',
  ],
  examples: ['waybill template pull acc_… templates'],
  run: async (environment, { args: [accountId, folder], options }) => {
    const whatsAppAccountId = options['whatsapp-account']
    const line = {
      args: [accountId],
      rest: [],
      options: { ...(whatsAppAccountId !== undefined && { 'whatsapp-account': whatsAppAccountId }) },
      json: true,
    }
    const nobody = { report: () => {}, print: () => Promise.resolve(), ask: () => Promise.resolve(undefined) }
    const result = await runDataCommand({ command: templateExport, line, user: nobody }, environment)
    // The result of `template export`, which may have run in another process.
    const exported = result.json as ExportedTemplates
    const files = await writeFiles(folder, exported)
    const skipped = exported.skipped.map((one) => `Skipped ${one.name} (${one.language}): ${one.reason}.`)
    const text = [`Wrote ${files.length} templates to ${folder}.`, ...skipped].join('\n')
    return { json: { files, skipped: exported.skipped }, text }
  },
})

async function writeFiles(folder: string, { items }: ExportedTemplates): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  replaceFile(path.join(folder, schemaFileName), writeTemplateFileSchema())
  const files = items.map(({ definition }) => ({
    file: nameTemplateFile(definition),
    content: printTemplateFile(definition),
  }))
  for (const { file, content } of files) {
    // Ensures that no name writes outside the folder, although WhatsApp allows no such names.
    if (path.basename(file) !== file) continue
    replaceFile(path.join(folder, file), content)
  }
  return files.map(({ file }) => file)
}
