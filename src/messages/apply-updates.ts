import type { Deps } from '../deps.ts'
import type { TracedItem } from '../platform/db/traced.ts'
import {
  changeTemplates,
  type ReportedTemplatePatch,
  type TemplatePatch,
  toTemplatePatch,
} from '../templates/apply-update.ts'
import {
  type AccountChange,
  changeAccounts,
  mergeAccountChanges,
  type ReportedChange,
  scheduleChecks,
  scheduleSyncs,
  toAccountChange,
} from '../whatsapp-accounts/account-changes.ts'
import type { CallbackSender } from '../whatsapp-accounts/callback-senders.ts'
import { applyReports } from '../whatsapp-accounts/health/store.ts'
import type { ReportedAccount } from '../whatsapp/callbacks/read-account.ts'
import type { TemplateUpdate } from '../whatsapp/callbacks/read-callback.ts'
import { type ApplyCounts, type ApplyDeps, batchedByAccount, noCounts } from './batched-by-account.ts'

/** A change of a template, or of a WhatsApp account. */
type IncomingChange = TracedItem & (ReportedTemplatePatch | (ReportedChange & { wabaId: string }))

type UpdateDeps = ApplyDeps & Pick<Deps, 'log' | 'now'>

const applyChanges = batchedByAccount<IncomingChange, UpdateDeps>({ name: 'apply_updates', run: applyAll })

/**
 * Applies what WhatsApp reported about templates and WhatsApp Business Accounts. Updates of one template or account are
 * merged first, so a callback that repeats them costs no more than one that does not. Repeating all of it is safe.
 */
export async function applyUpdates(
  deps: UpdateDeps,
  updates: { templates: TemplateUpdate[]; accounts: ReportedAccount[] },
  senders: readonly CallbackSender[],
): Promise<void> {
  const ofWaba = Map.groupBy(senders, ({ wabaId }) => wabaId)
  const isKnown = ({ wabaId }: TemplateUpdate) => ofWaba.has(wabaId)
  const templates = mergeTemplates(updates.templates.filter(isKnown).map(toTemplatePatch))
  const changes: IncomingChange[] = [
    ...templates.flatMap((template) =>
      accountsOf(ofWaba.get(template.wabaId) ?? []).map((accountId) => ({ accountId, template })),
    ),
    ...senders.flatMap((sender) => toReportedChange(sender, updates.accounts)),
  ]
  if (changes.length > 0) await applyChanges(deps, changes)
}

function accountsOf(senders: readonly CallbackSender[]): string[] {
  return [...new Set(senders.map(({ accountId }) => accountId))]
}

function mergeTemplates(changes: readonly TemplatePatch[]): TemplatePatch[] {
  const merged = new Map<string, TemplatePatch>()
  for (const change of changes) {
    const key = JSON.stringify([change.wabaId, change.name, change.language])
    merged.set(key, { ...merged.get(key), ...change })
  }
  return [...merged.values()]
}

function toReportedChange(sender: CallbackSender, updates: readonly ReportedAccount[]) {
  let change: AccountChange | undefined
  for (const update of updates) {
    const own = toOwnChange(sender, update)
    if (own) change = mergeAccountChanges(change, own)
  }
  const { accountId, whatsAppAccountId, wabaId } = sender
  return change ? [{ accountId, whatsAppAccountId, wabaId, change }] : []
}

/** Returns undefined if the update is about other numbers. */
function toOwnChange(sender: CallbackSender, update: ReportedAccount): AccountChange | undefined {
  const { ownerId, number } = update
  const isOfPortfolio = ownerId !== sender.wabaId
  if (isOfPortfolio && ownerId !== sender.portfolioId) return undefined
  if (number && !isAbout(sender, number)) return undefined
  // The account that was removed is not named then. The check that follows finds out whether it is this one.
  if (isOfPortfolio && update.change === 'disabled') return toAccountChange({ ...update, change: 'recheck' })
  return toAccountChange(update)
}

function isAbout(sender: CallbackSender, number: NonNullable<ReportedAccount['number']>): boolean {
  if ('phoneNumberId' in number) return number.phoneNumberId === sender.phoneNumberId
  // Before its first check, it is not known how WhatsApp shows the number.
  return sender.displayDigits === undefined || number.displayDigits === sender.displayDigits
}

async function applyAll(deps: UpdateDeps, callbacks: readonly (readonly IncomingChange[])[]): Promise<ApplyCounts[]> {
  const changes = callbacks.flat()
  const ofAccounts = changes.filter((change) => 'whatsAppAccountId' in change)
  const ofTemplates = changes.filter((change) => 'template' in change)
  await changeTemplates(deps.db, mergeOfTemplates(ofTemplates))
  const accounts = mergeOfAccounts(ofAccounts)
  const disabled = await changeAccounts(deps.db, accounts)
  for (const { reason, ...ref } of disabled) deps.log.warn({ ...ref, reason }, 'WhatsApp disabled a business account')
  await applyReports(deps, accounts)
  const wabas = [
    ...ofTemplates.map(({ accountId, template }) => ({ accountId, wabaId: template.wabaId })),
    ...ofAccounts.map(({ accountId, wabaId }) => ({ accountId, wabaId })),
  ]
  await scheduleSyncs(
    deps.db,
    dedupe(wabas, ({ accountId, wabaId }) => `${accountId} ${wabaId}`),
  )
  await scheduleChecks(
    deps.db,
    dedupe(ofAccounts, ({ whatsAppAccountId }) => whatsAppAccountId),
  )
  return callbacks.map(noCounts)
}

function mergeOfTemplates(changes: readonly ReportedTemplatePatch[]): ReportedTemplatePatch[] {
  const byAccount = Map.groupBy(changes, ({ accountId }) => accountId)
  return Array.from(byAccount, ([accountId, own]) =>
    mergeTemplates(own.map(({ template }) => template)).map((template) => ({ accountId, template })),
  ).flat()
}

function mergeOfAccounts(changes: readonly ReportedChange[]): ReportedChange[] {
  const merged = new Map<string, ReportedChange>()
  for (const { accountId, whatsAppAccountId, change } of changes)
    merged.set(whatsAppAccountId, {
      accountId,
      whatsAppAccountId,
      change: mergeAccountChanges(merged.get(whatsAppAccountId)?.change, change),
    })
  return [...merged.values()]
}

function dedupe<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}
