import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import type { TemplateDefinition, TemplateHeaderDefinition } from '../../../contracts/templates/definition.ts'
import type { TemplateFile } from '../../../contracts/templates/file.ts'
import type { Deps } from '../../deps.ts'
import { createTemplate } from '../../templates/changes/create.ts'
import { openTemplateAccount } from '../../templates/changes/template-account.ts'
import { uploadLocalSample } from '../../templates/changes/samples.ts'
import { assertValidTemplate } from '../../templates/changes/submit.ts'
import { updateTemplate } from '../../templates/changes/update.ts'
import { toDefinition } from './plan.ts'

interface Target {
  accountId: string
  whatsAppAccountId?: string | undefined
}

/** Uploads the sample files of this machine, then creates or updates the template. */
export async function submitTemplateFile(
  deps: Deps,
  { accountId, whatsAppAccountId }: Target,
  action: 'create' | 'update',
  file: TemplateFile,
): Promise<TemplateChange> {
  assertValidTemplate(toDefinition(file))
  const template = await uploadFiles(deps, { accountId, whatsAppAccountId }, file)
  const change = action === 'create' ? createTemplate : updateTemplate
  return change(deps, accountId, { template, whatsAppAccountId })
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
