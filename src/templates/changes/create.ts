import type { z } from 'zod'
import type { duplicateTemplate as contract, TemplateChange } from '../../../contracts/api/template-changes.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import { errorFactsWithValues, quotaFacts } from '../../../contracts/facts/errors.ts'
import type {
  TemplateDefinition,
  TemplateHeaderDefinition,
  TemplateSample,
} from '../../../contracts/templates/definition.ts'
import { isSampleFormat } from '../../../contracts/templates/samples.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { StoredComponent } from '../../platform/db/schema.ts'
import { toDefinition } from '../../whatsapp/template-components.ts'
import type { TemplateRow } from '../store.ts'
import { describeUnknownTemplate } from '../suggest.ts'
import { syncWaba } from '../sync.ts'
import { existsSubcode, explainTemplateFailure } from './failures.ts'
import { uploadSamples } from './samples.ts'
import { countTemplates, findPresentTemplate } from './store.ts'
import {
  assertValidTemplate,
  type ChangeDeps,
  type SubmittedTemplate,
  describeListed,
  describeUnchanged,
  isUnchanged,
  storeAsListed,
} from './submit.ts'
import { openTemplateAccount, type TemplateAccount } from './template-account.ts'

/** Creates a template. A retry finds the template of the first request, even if its response was lost. */
export async function createTemplate(
  deps: ChangeDeps,
  caller: Caller,
  { accountId: whatsAppAccountId, ...template }: SubmittedTemplate,
): Promise<TemplateChange> {
  const { accountId } = caller
  assertValidTemplate(template)
  const account = await openTemplateAccount(deps, accountId, whatsAppAccountId)
  const stored = await findStored(deps, account, template)
  if (stored) return describeExisting(deps, account, { stored, template })
  await assertQuotaLeft(deps, accountId)
  const ready = await uploadSamples(deps, account, template)
  await caller.assertStillAllowed?.()
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
    if (found) return describeExisting(deps, account, { stored: found, template })
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

async function describeExisting(
  deps: ChangeDeps,
  account: TemplateAccount,
  { stored, template }: { stored: TemplateRow; template: TemplateDefinition },
): Promise<TemplateChange> {
  if (await isUnchanged(deps, account, { stored, template })) return describeUnchanged(stored)
  throw new ServiceError(
    'TEMPLATE_EXISTS',
    errorFactsWithValues.templateExists({ ...template, status: stored.status }),
    {
      field: 'name',
    },
  )
}

/** Copies a template under another name, language or WhatsApp account. */
export async function duplicateTemplate(
  deps: ChangeDeps,
  caller: Caller,
  input: z.output<(typeof contract)['input']>,
): Promise<TemplateChange> {
  const { accountId } = caller
  const { name, language, newName = name, newLanguage = language, sample } = input
  const source = await openTemplateAccount(deps, accountId, input.accountId)
  const target =
    input.toAccountId === undefined ? source : await openTemplateAccount(deps, accountId, input.toAccountId)
  if (source.wabaId === target.wabaId && newName === name && newLanguage === language)
    throw invalidField('newName', 'the copy needs another name, language or WhatsApp account.')
  const key = { accountId, wabaId: source.wabaId, name, language }
  const row = await findPresentTemplate(deps.db, key)
  if (!row) throw await describeUnknownTemplate(deps.db, key)
  const definition = toDefinition(row)
  if (typeof definition === 'string')
    throw new ServiceError('TEMPLATE_REFUSED', `The template cannot be copied: ${definition}.`)
  const template = withSamples({ ...definition, name: newName, language: newLanguage }, row.components, sample)
  return createTemplate(deps, caller, { ...template, accountId: target.whatsAppAccountId })
}

/** A listing has the URL of each sample, which stays valid for some days. */
function withSamples(
  template: TemplateDefinition,
  components: StoredComponent[],
  sample: TemplateSample | undefined,
): TemplateDefinition {
  const cards = components.find(({ type }) => type === 'CAROUSEL')?.cards
  return {
    ...template,
    ...(template.header && { header: withSample(template.header, sample ?? readSample(components)) }),
    ...(template.cards && {
      cards: template.cards.map((card, index) => ({
        ...card,
        header: withSample(card.header, readSample(cards?.[index]?.components ?? [])),
      })),
    }),
  }
}

function withSample(header: TemplateHeaderDefinition, sample: TemplateSample | undefined): TemplateHeaderDefinition {
  return isSampleFormat(header.format) && sample ? { ...header, sample } : header
}

function readSample(components: StoredComponent[]): TemplateSample | undefined {
  const handles = components.find(({ type }) => type === 'HEADER')?.example?.['header_handle']
  const first: unknown = Array.isArray(handles) ? handles[0] : undefined
  return typeof first === 'string' && /^https?:/.test(first) ? { link: first } : undefined
}
