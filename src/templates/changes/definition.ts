import type { z } from 'zod'
import type { getTemplateDefinition as contract } from '../../../contracts/dashboard/template-changes.ts'
import type { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import type { Deps } from '../../deps.ts'
import { toDefinition } from '../../whatsapp/template-components.ts'
import { describeUnknownTemplate } from '../suggest.ts'
import { requireWabaId } from '../sync.ts'
import { explainTemplateFailure } from './failures.ts'
import { findPresentTemplate, findPresentTemplates } from './store.ts'
import { openTemplateAccount } from './template-account.ts'

/** Returns the definition of a template, or why it cannot be expressed as one. */
export async function getTemplateDefinition(
  { db }: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId, name, language }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const wabaId = await requireWabaId({ db }, accountId, whatsAppAccountId)
  const key = { accountId, wabaId, name, language }
  const row = await findPresentTemplate(db, key)
  if (!row) throw await describeUnknownTemplate(db, key)
  const definition = toDefinition(row)
  return typeof definition === 'string' ? { reason: definition } : { definition }
}

export interface ExportedTemplates {
  items: { status: string; definition: TemplateDefinition }[]
  /** Templates that cannot be expressed as a definition. */
  skipped: { name: string; language: string; reason: string }[]
}

/** Returns the definitions of all templates that WhatsApp has, for export to files. */
export async function listTemplateDefinitions(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string | undefined,
): Promise<ExportedTemplates> {
  const wabaId = await requireWabaId({ db }, accountId, whatsAppAccountId)
  const exported: ExportedTemplates = { items: [], skipped: [] }
  for (const row of await findPresentTemplates(db, accountId, wabaId)) {
    const definition = toDefinition(row)
    const { name, language, status } = row
    if (typeof definition === 'string') exported.skipped.push({ name, language, reason: definition })
    else exported.items.push({ status, definition })
  }
  return exported
}

/** Adds the lifetimes of templates. They are not stored, so this lists the templates at WhatsApp. */
export async function withLifetimes(
  deps: Pick<Deps, 'db' | 'secrets' | 'log' | 'whatsapp'>,
  { accountId, whatsAppAccountId }: { accountId: string; whatsAppAccountId: string | undefined },
  definitions: readonly TemplateDefinition[],
): Promise<TemplateDefinition[]> {
  const account = await openTemplateAccount(deps, accountId, whatsAppAccountId)
  const read = await deps.whatsapp.listTemplates(account)
  if (!read.ok) throw await explainTemplateFailure(deps, account, read, 'read')
  const lifetimes = new Map(read.value.map(({ name, language, ttlSeconds }) => [`${name} ${language}`, ttlSeconds]))
  return definitions.map((one) => ({ ...one, ttlSeconds: lifetimes.get(`${one.name} ${one.language}`) }))
}
