import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import type { TemplateRow } from '../store.ts'
import { syncWaba } from '../sync.ts'
import { existsSubcode, explainTemplateFailure } from './failures.ts'
import { findMaker, type Maker } from './maker.ts'
import { uploadSamples } from './samples.ts'
import { findPresentTemplate } from './store.ts'
import {
  assertValidTemplate,
  describeListed,
  describeUnchanged,
  type MakerDeps,
  matchesStored,
  storeAsListed,
} from './submit.ts'

/**
 * Creates a template. A repetition finds the template that the first request made, also if its answer was lost.
 */
export async function createTemplate(
  deps: MakerDeps,
  accountId: string,
  { template, whatsAppAccountId }: { template: TemplateDefinition; whatsAppAccountId: string | undefined },
): Promise<TemplateChange> {
  assertValidTemplate(template)
  const maker = await findMaker(deps, accountId, whatsAppAccountId)
  const stored = await findStored(deps, maker, template)
  if (stored) return answerExisting(stored, template)
  const ready = await uploadSamples(deps, maker, template)
  const created = await deps.whatsapp.createTemplate(maker, ready)
  if (created.ok) {
    const listed = await storeAsListed(deps, maker, template, created.value.templateId)
    return describeListed(listed, template.category)
  }
  if (created.subcode === existsSubcode) {
    await syncWaba(deps, accountId, maker.wabaId)
    const found = await findStored(deps, maker, template)
    if (found) return answerExisting(found, template)
  }
  throw await explainTemplateFailure(deps, maker, created)
}

function findStored(deps: MakerDeps, { accountId, wabaId }: Maker, { name, language }: TemplateDefinition) {
  return findPresentTemplate(deps.db, { accountId, wabaId, name, language })
}

function answerExisting(stored: TemplateRow, template: TemplateDefinition): TemplateChange {
  if (matchesStored(stored, template)) return describeUnchanged(stored)
  throw new ServiceError(
    'TEMPLATE_EXISTS',
    `The template "${template.name}" in language ${template.language} exists with other content (${stored.status}). Update it, or choose another name.`,
    { field: 'name' },
  )
}
