import { changes } from '../../../contracts/facts/changes.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { TemplateFile } from '../../../contracts/templates/file.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { listTemplateDefinitions, withLifetimes } from '../../templates/changes/definition.ts'
import { deleteTemplate } from '../../templates/changes/delete.ts'
import { syncTemplates } from '../../templates/sync.ts'
import { type CommandUser, dataCommand } from '../command.ts'
import { printTemplateFile, readTemplateFolder } from '../template-files/file.ts'
import { planPush, type PushPlan, type PushStep, submitTemplateFile } from '../template-files/plan.ts'

const target = {
  'whatsapp-account': { value: 'WA', help: 'Templates of this WhatsApp account instead of the default one' },
} as const

export const templateExport = dataCommand({
  name: 'template export',
  summary: 'Print the templates of an account as YAML',
  args: ['ACC'],
  options: target,
  examples: ['waybill template export acc_…'],
  run: async (deps, { args: [accountId], options }) => {
    await requireAccount(deps.db, accountId)
    await syncTemplates(deps, accountId)
    const json = await listTemplateDefinitions(deps, accountId, options['whatsapp-account'])
    return { json, text: json.items.map(({ definition }) => printTemplateFile(definition)).join('---\n') }
  },
})

export const templatePush = dataCommand({
  name: 'template push',
  summary: 'Create and update templates from YAML files',
  args: ['ACC', 'DIR'],
  read: { DIR: readTemplateFolder },
  options: {
    check: { help: 'Change nothing; show the differences and exit with 1 if there are any' },
    delete: { help: 'Also delete the templates that have no file' },
    ...target,
  },
  notes: [
    'Reads the templates from WhatsApp first. If the rules of WhatsApp forbid one file, nothing is changed.',
    'Templates are deleted only with --delete. WhatsApp does not accept a deleted name again for some weeks.',
  ],
  examples: [
    'waybill template push acc_… templates --check',
    'waybill template push acc_… templates',
    'waybill template push acc_… templates --delete',
  ],
  audit: ({ options: { check } }) => (check === true ? undefined : changes.pushTemplates()),
  run: async (deps, { args: [accountId, content], options }, { report }) => {
    await requireAccount(deps.db, accountId)
    await syncTemplates(deps, accountId)
    const whatsAppAccountId = options['whatsapp-account']
    const { items } = await listTemplateDefinitions(deps, accountId, whatsAppAccountId)
    const stored = items.map(({ definition }) => definition)
    // The folder was read and checked where the command was typed.
    const files = JSON.parse(content) as TemplateFile[]
    // More likely a wrong path than a wish to delete everything.
    if (options.delete === true && files.length === 0)
      throw new ServiceError(
        'VALIDATION_ERROR',
        'The folder has no template files (*.yaml, *.yml), so --delete would delete every template. Nothing was changed. Check the path.',
      )
    const namesLifetime = files.some(({ ttlSeconds }) => ttlSeconds !== undefined)
    const existing = namesLifetime ? await withLifetimes(deps, { accountId, whatsAppAccountId }, stored) : stored
    const plan = planPush(files, existing, { mayDelete: options.delete === true })
    const changing = plan.steps.filter(isChange)
    if (options.check === true || plan.problems.length > 0) {
      const isClean = changing.length === 0 && plan.problems.length === 0
      return { json: { ...toJson(plan), applied: [] }, text: describePlan(plan), exitCode: isClean ? 0 : 1 }
    }
    const applied = await apply(deps, { accountId, whatsAppAccountId }, changing, report)
    const failed = applied.filter(({ ok }) => !ok)
    const done = `${applied.length - failed.length} of ${changing.length} changes made, ${plan.steps.length - changing.length} templates unchanged.`
    return {
      json: { ...toJson(plan), applied },
      text: [...applied.map(({ message }) => message), done].join('\n'),
      exitCode: failed.length === 0 ? 0 : 1,
    }
  },
})

type Change = Extract<PushStep, { action: 'create' | 'update' | 'delete' }>

function isChange(step: PushStep): step is Change {
  return step.action === 'create' || step.action === 'update' || step.action === 'delete'
}

function labelOf(step: PushStep): string {
  const { name, language } = 'template' in step ? step.template : step
  return `${name} (${language})`
}

/** Applies one change after the other. A rejected one does not stop the others, because all can be pushed again. */
async function apply(
  deps: Deps,
  target: { accountId: string; whatsAppAccountId: string | undefined },
  steps: Change[],
  report: CommandUser['report'],
): Promise<{ action: string; template: string; ok: boolean; message: string }[]> {
  const applied = []
  for (const step of steps) {
    const template = labelOf(step)
    const result = { action: step.action, template }
    report(`${step.action} ${template} …`)
    try {
      applied.push({ ...result, ok: true, message: await applyOne(deps, target, step) })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      applied.push({ ...result, ok: false, message: `✗ ${step.action} ${template}: ${error.message}` })
    }
  }
  return applied
}

async function applyOne(
  deps: Deps,
  target: { accountId: string; whatsAppAccountId: string | undefined },
  step: Change,
): Promise<string> {
  if (step.action === 'delete') {
    const { name, language } = step
    await deleteTemplate(deps, target, { name, language, accountId: target.whatsAppAccountId })
    return `✓ deleted ${labelOf(step)}`
  }
  const { status, notice } = await submitTemplateFile(deps, target, step.action, step.template)
  const text = `✓ ${step.action}d ${labelOf(step)}: ${status}`
  return notice === undefined ? text : `${text}. ${notice}`
}

function toJson({ steps, problems }: PushPlan): object {
  return {
    problems,
    steps: steps.map((step) => ({
      action: step.action,
      template: labelOf(step),
      ...('difference' in step && { difference: step.difference }),
    })),
  }
}

function describePlan({ steps, problems }: PushPlan): string {
  const shown = steps
    .filter((step) => step.action !== 'unchanged')
    .map((step) =>
      step.action === 'keep'
        ? `no file   ${labelOf(step)}`
        : [`${step.action.padEnd(9)} ${labelOf(step)}`, ...('difference' in step ? step.difference : [])].join(
            '\n    ',
          ),
    )
  const unchanged = steps.length - shown.length
  return [...problems.map((problem) => `✗ ${problem}`), ...shown, `${unchanged} templates are the same.`].join('\n')
}
