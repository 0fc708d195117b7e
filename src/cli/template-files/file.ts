import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type * as yaml from 'yaml'
import { formatPath } from '../../../contracts/errors.ts'
import type { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import { TemplateFile } from '../../../contracts/templates/file.ts'
import { UsageError } from '../failure.ts'

/** Loaded on first use, because a server imports this file but reads no YAML. */
const loadYaml = () => createRequire(import.meta.url)('yaml') as typeof yaml

export const schemaFileName = 'template.schema.json'

/** `order_shipped.en.yaml`. */
export function nameTemplateFile({ name, language }: { name: string; language: string }): string {
  return `${name}.${language}.yaml`
}

/** The fields in the order in which people read a template. */
const order = [
  'name',
  'language',
  'category',
  'header',
  'body',
  'footer',
  'buttons',
  'cards',
  'limitedTimeOffer',
  'authentication',
  'ttlSeconds',
] as const satisfies (keyof TemplateDefinition)[]

export function printTemplateFile(template: TemplateDefinition): string {
  const fields = order.flatMap((field) => (template[field] === undefined ? [] : [[field, template[field]] as const]))
  const text = loadYaml().stringify(Object.fromEntries(fields), { lineWidth: 100 })
  return `# yaml-language-server: $schema=./${schemaFileName}\n${text}`
}

/** Reads a template from YAML or JSON. Aliases are rejected, because a few of them can expand to gigabytes. */
export function parseTemplateFile(text: string, file: string): TemplateFile {
  const parsed = TemplateFile.safeParse(parseYaml(text, file))
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => `  ${formatPath(issue.path) || 'file'}: ${issue.message}`)
  throw new UsageError(`${file} is not a template:\n${problems.join('\n')}`)
}

function parseYaml(text: string, file: string): unknown {
  const { parse, YAMLParseError } = loadYaml()
  try {
    return parse(text, { maxAliasCount: 0, prettyErrors: true })
  } catch (error) {
    const reason = error instanceof YAMLParseError || error instanceof ReferenceError ? error.message : 'not YAML'
    throw new UsageError(`${file} is not YAML: ${reason}`)
  }
}

/** Reads one file. Its paths become absolute, because the process that runs the command can be in another folder. */
export async function readTemplateFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`The file ${file} cannot be read.`)
  })
  return JSON.stringify(resolveSamples(parseTemplateFile(text, file), path.dirname(file)))
}

/** Reads all templates of a folder in the same way. */
export async function readTemplateFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true }).catch(() => {
    throw new UsageError(`The folder ${folder} cannot be read.`)
  })
  const files = entries.filter((entry) => /\.ya?ml$/.test(entry)).toSorted()
  const templates: TemplateFile[] = []
  const fileOf = new Map<string, string>()
  for (const file of files) {
    const template = JSON.parse(await readTemplateFile(path.join(folder, file))) as TemplateFile
    const key = nameTemplateFile(template)
    const other = fileOf.get(key)
    if (other !== undefined)
      throw new UsageError(`${other} and ${file} are the same template: ${template.name} in ${template.language}.`)
    fileOf.set(key, file)
    templates.push(template)
  }
  return JSON.stringify(templates)
}

type FileHeader = NonNullable<TemplateFile['header']>

function resolveSamples(template: TemplateFile, folder: string): TemplateFile {
  const resolved = (header: FileHeader): FileHeader => {
    const file = header.sample?.file
    return file === undefined ? header : { ...header, sample: { ...header.sample, file: path.resolve(folder, file) } }
  }
  return {
    ...template,
    ...(template.header && { header: resolved(template.header) }),
    ...(template.cards && { cards: template.cards.map((card) => ({ ...card, header: resolved(card.header) })) }),
  }
}
