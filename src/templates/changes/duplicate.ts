import type { z } from 'zod'
import type { duplicateTemplate as contract, TemplateChange } from '../../../contracts/api/template-changes.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type {
  TemplateDefinition,
  TemplateHeaderDefinition,
  TemplateSample,
} from '../../../contracts/templates/definition.ts'
import { isSampleFormat } from '../../../contracts/templates/samples.ts'
import type { StoredComponent } from '../../platform/db/schema.ts'
import { toDefinition } from '../../whatsapp/template-components.ts'
import { describeUnknownTemplate } from '../suggest.ts'
import { createTemplate } from './create.ts'
import { openTemplateAccount } from './template-account.ts'
import { findPresentTemplate } from './store.ts'
import type { ChangeDeps } from './submit.ts'

/** Copies a template under another name, language or WhatsApp account. */
export async function duplicateTemplate(
  deps: ChangeDeps,
  accountId: string,
  input: z.output<(typeof contract)['input']>,
): Promise<TemplateChange> {
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
  return createTemplate(deps, accountId, { template, whatsAppAccountId: target.whatsAppAccountId })
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
