import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { quotaFacts, failureFacts } from '../../../contracts/facts/errors.ts'
import type { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import type { TemplateRow } from '../store.ts'
import { syncWaba } from '../sync.ts'
import { existsSubcode, explainTemplateFailure } from './failures.ts'
import { openTemplateAccount, type TemplateAccount } from './template-account.ts'
import { uploadSamples } from './samples.ts'
import { countTemplates, findPresentTemplate } from './store.ts'
import {
  assertValidTemplate,
  describeListed,
  describeUnchanged,
  type ChangeDeps,
  matchesStored,
  storeAsListed,
} from './submit.ts'

/** Creates a template. A retry finds the template of the first request, even if its response was lost. */
export async function createTemplate(
  deps: ChangeDeps,
  accountId: string,
  { template, whatsAppAccountId }: { template: TemplateDefinition; whatsAppAccountId: string | undefined },
): Promise<TemplateChange> {
  assertValidTemplate(template)
  const account = await openTemplateAccount(deps, accountId, whatsAppAccountId)
  const stored = await findStored(deps, account, template)
  if (stored) return describeExisting(stored, template)
  await assertQuotaLeft(deps, accountId)
  const ready = await uploadSamples(deps, account, template)
  // On a template, Meta's optimizations are on by default, so that people would see something else than was approved.
  const withOptimizations = !(account.isMarketingOnboarded && template.category === 'MARKETING')
  const created = await deps.whatsapp.createTemplate(account, ready, { withOptimizations })
  if (created.ok) {
    const listed = await storeAsListed(deps, account, template, created.value.templateId)
    return describeListed(listed, template.category)
  }
  if (created.subcode === existsSubcode) {
    await syncWaba(deps, accountId, account.wabaId)
    const found = await findStored(deps, account, template)
    if (found) return describeExisting(found, template)
  }
  throw await explainTemplateFailure(deps, account, created)
}

/** Concurrent requests can exceed the quota by their number, which WhatsApp's limit per hour bounds. */
async function assertQuotaLeft({ db, quotas }: ChangeDeps, accountId: string): Promise<void> {
  if ((await countTemplates(db, accountId)) < quotas.templates) return
  throw new ServiceError('TEMPLATE_REFUSED', quotaFacts.templates({ quota: quotas.templates }))
}

function findStored(deps: ChangeDeps, { accountId, wabaId }: TemplateAccount, { name, language }: TemplateDefinition) {
  return findPresentTemplate(deps.db, { accountId, wabaId, name, language })
}

function describeExisting(stored: TemplateRow, template: TemplateDefinition): TemplateChange {
  if (matchesStored(stored, template)) return describeUnchanged(stored)
  throw new ServiceError('TEMPLATE_EXISTS', failureFacts.templateExists({ ...template, status: stored.status }), {
    field: 'name',
  })
}
