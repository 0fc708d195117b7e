import { dayMilliseconds } from '../../../contracts/time.ts'
import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import type { Caller } from '../../accounts/authenticate.ts'
import type { TemplateRow } from '../store.ts'
import { describeUnknownTemplate } from '../suggest.ts'
import { explainTemplateFailure } from './failures.ts'
import { openTemplateAccount } from './template-account.ts'
import { uploadSamples } from './samples.ts'
import { findPresentTemplate, recordEdit } from './store.ts'
import {
  assertValidTemplate,
  definitionOf,
  describeListed,
  describeUnchanged,
  type ChangeDeps,
  isUnchanged,
  storeAsListed,
  type SubmittedTemplate,
} from './submit.ts'

/** Replaces the content of a template and submits it again. */
export async function updateTemplate(
  deps: ChangeDeps,
  caller: Caller,
  { accountId: whatsAppAccountId, ...template }: SubmittedTemplate,
): Promise<TemplateChange> {
  const { accountId } = caller
  const account = await openTemplateAccount(deps, accountId, whatsAppAccountId)
  const key = { accountId, wabaId: account.wabaId, name: template.name, language: template.language }
  const stored = await findPresentTemplate(deps.db, key)
  if (!stored) throw await describeUnknownTemplate(deps.db, key)
  const canBeSame = stored.category === template.category && !hasNewSample(template)
  if (canBeSame && (await isUnchanged(deps, account, { stored, template }))) return describeUnchanged(stored)
  assertValidTemplate(template)
  assertEditable(stored, template, deps.now())
  const ready = await uploadSamples(deps, account, template)
  await caller.assertStillAllowed?.()
  const templateId = stored.templateId
  const edited = await deps.whatsapp.editTemplate({ templateId, accessToken: account.accessToken }, ready, {
    withCategory: stored.category !== template.category,
  })
  if (!edited.ok) throw await explainTemplateFailure(deps, account, edited)
  const listed = await storeAsListed(deps, account, template, templateId)
  if (stored.status === 'APPROVED') await recordEdit(deps.db, key, deps.now())
  return describeListed(listed, template.category)
}

function hasNewSample({ header, cards = [] }: TemplateDefinition): boolean {
  return [header, ...cards.map((card) => card.header)].some((one) => one?.sample !== undefined)
}

const editable: readonly string[] = ['APPROVED', 'REJECTED', 'PAUSED']
const maxEdits = 10

/** Checks WhatsApp's rules (reference 2, section 3.3), because its own error only says that a limit was reached. */
function assertEditable(stored: TemplateRow, template: TemplateDefinition, now: Date): void {
  if (!editable.includes(stored.status))
    throw new ServiceError(
      'TEMPLATE_REFUSED',
      `The template is ${stored.status}. WhatsApp allows changes of templates that are ${editable.join(', ')} only: wait for the end of the review.`,
    )
  if (definitionOf(stored) === undefined)
    throw new ServiceError(
      'TEMPLATE_REFUSED',
      'The template has parts that Waybill cannot write, and an update would remove them. Change it in WhatsApp Manager.',
    )
  if (stored.status !== 'APPROVED') return
  if (stored.category !== null && stored.category !== template.category)
    throw invalidField(
      'category',
      `must stay ${stored.category}: WhatsApp allows no other category for an approved template.`,
    )
  const edits = stored.editedAt
    .map((edit) => edit.getTime())
    .filter((edit) => edit > now.getTime() - 30 * dayMilliseconds)
  const last = Math.max(0, ...edits)
  const free = edits.length >= maxEdits ? Math.min(...edits) + 30 * dayMilliseconds : last + dayMilliseconds
  if (edits.length === 0 || free <= now.getTime()) return
  throw new ServiceError(
    'RATE_LIMIT_EXCEEDED',
    `WhatsApp allows one change of an approved template in 24 hours, and ${maxEdits} in 30 days. The next one is possible at ${new Date(free).toISOString()}.`,
    { retryAfterSeconds: Math.ceil((free - now.getTime()) / 1000) },
  )
}
