import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import type { TemplateDefinition, TemplateHeaderDefinition } from '../../../contracts/templates/definition.ts'
import type { TemplateFile } from '../../../contracts/templates/file.ts'
import { describeTemplateProblem, findTemplateProblems } from '../../../contracts/templates/rules.ts'
import type { Deps } from '../../deps.ts'
import { createTemplate } from '../../templates/changes/create.ts'
import { uploadLocalSample } from '../../templates/changes/samples.ts'
import { assertValidTemplate, isSameTemplate } from '../../templates/changes/submit.ts'
import { openTemplateAccount } from '../../templates/changes/template-account.ts'
import { updateTemplate } from '../../templates/changes/update.ts'

export type PushStep =
  | { action: 'create' | 'update'; template: TemplateFile; difference: string[] }
  | { action: 'delete'; name: string; language: string }
  | { action: 'unchanged' | 'keep'; name: string; language: string }

export interface PushPlan {
  steps: PushStep[]
  /** Violations of WhatsApp's rules, with the template of each. */
  problems: string[]
}

/** Compares files with the templates at WhatsApp. Templates without a file are kept unless they may be deleted. */
export function planPush(
  files: readonly TemplateFile[],
  existing: readonly TemplateDefinition[],
  { mayDelete }: { mayDelete: boolean },
): PushPlan {
  const byKey = new Map(existing.map((template) => [keyOf(template), template]))
  const steps: PushStep[] = files.map((template) => {
    const stored = byKey.get(keyOf(template))
    byKey.delete(keyOf(template))
    if (!stored) return { action: 'create', template, difference: listLines(template).map((line) => `+ ${line}`) }
    const isSame = stored.category === template.category && isSameTemplate(toDefinition(template), stored)
    if (isSame) return { action: 'unchanged', name: template.name, language: template.language }
    // Without a lifetime in its file, a template keeps the one that it has.
    const wanted = { ttlSeconds: stored.ttlSeconds, ...toDefinition(template) }
    return { action: 'update', template, difference: listDifference(stored, wanted) }
  })
  const others = [...byKey.values()].map(({ name, language }): PushStep => ({
    action: mayDelete ? 'delete' : 'keep',
    name,
    language,
  }))
  return { steps: [...steps, ...others], problems: steps.flatMap(listProblems) }
}

function keyOf({ name, language }: { name: string; language: string }): string {
  return `${name} ${language}`
}

/** An update also needs a sample, because WhatsApp keeps the earlier one only if it is sent again. */
function listProblems(step: PushStep): string[] {
  if (step.action !== 'create' && step.action !== 'update') return []
  const { template } = step
  const where = `${template.name} (${template.language})`
  return findTemplateProblems(toDefinition(template)).map((problem) => `${where}: ${describeTemplateProblem(problem)}`)
}

type FileHeader = NonNullable<TemplateFile['header']>

function withoutFile({ sample, ...header }: FileHeader): TemplateHeaderDefinition {
  if (!sample) return header
  const { file, ...rest } = sample
  return { ...header, sample: file === undefined ? rest : { ...rest, handle: 'file' } }
}

/** Replaces each sample file with a placeholder for the handle that it will get. */
function toDefinition(template: TemplateFile): TemplateDefinition {
  const { header, cards, ...rest } = template
  return {
    ...rest,
    ...(header && { header: withoutFile(header) }),
    ...(cards && { cards: cards.map((card) => ({ ...card, header: withoutFile(card.header) })) }),
  }
}

function listDifference(before: TemplateDefinition, after: TemplateDefinition): string[] {
  const old = new Set(listLines(before))
  const lines = listLines(after)
  const next = new Set(lines)
  return [
    ...[...old].filter((line) => !next.has(line)).map((line) => `- ${line}`),
    ...lines.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ].toSorted((a, b) => (a.slice(2).split(':')[0] ?? '').localeCompare(b.slice(2).split(':')[0] ?? ''))
}

/** One line for each value: `body.text: "Hello"`. Samples are not compared. */
function listLines(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null)
    return value === undefined ? [] : [`${path}: ${JSON.stringify(value)}`]
  return Object.entries(value)
    .filter(([key]) => key !== 'sample')
    .flatMap(([key, inner]) => listLines(inner, path === '' ? key : `${path}.${key}`))
}

interface Target {
  accountId: string
  whatsAppAccountId?: string | undefined
}

/** Uploads the sample files of this machine, then creates or updates the template. */
export async function submitTemplateFile(
  deps: Deps,
  target: Target,
  action: 'create' | 'update',
  file: TemplateFile,
): Promise<TemplateChange> {
  assertValidTemplate(toDefinition(file))
  const template = await uploadFiles(deps, target, file)
  const change = action === 'create' ? createTemplate : updateTemplate
  return change(deps, target, { ...template, accountId: target.whatsAppAccountId })
}

async function uploadFiles(deps: Deps, target: Target, template: TemplateFile): Promise<TemplateDefinition> {
  const { header, cards, ...rest } = template
  const upload = async ({
    sample,
    ...given
  }: NonNullable<TemplateFile['header']>): Promise<TemplateHeaderDefinition> => {
    if (!sample) return given
    const { file, ...other } = sample
    if (file === undefined) return { ...given, sample: other }
    const account = await openTemplateAccount(deps, target.accountId, target.whatsAppAccountId)
    return { ...given, sample: { handle: await uploadLocalSample(deps, account, { file, format: given.format }) } }
  }
  const uploaded = []
  for (const card of cards ?? []) uploaded.push({ ...card, header: await upload(card.header) })
  return { ...rest, ...(header && { header: await upload(header) }), ...(cards && { cards: uploaded }) }
}
