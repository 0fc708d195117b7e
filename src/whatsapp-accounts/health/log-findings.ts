import type { AlertRules } from '../../../contracts/dashboard/alert.ts'
import type { Deps } from '../../deps.ts'
import { allInEnglish } from '../../../contracts/facts/fact.ts'
import { findRules } from '../../accounts/alert-rules.ts'
import { findWhatsAppAccountsById, type WhatsAppAccountRef, type WhatsAppAccountRow } from '../store.ts'
import { toFacts } from './facts.ts'
import { findProblems, inactiveCodes } from './findings.ts'
import { findHealthOf, type HealthRow, replaceAnnouncedFindings } from './store.ts'

type LogDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl'>

/** Logs new and resolved findings: each change once, on one node. */
export async function logFindings(deps: LogDeps, refs: readonly WhatsAppAccountRef[]): Promise<void> {
  if (refs.length === 0) return
  const [rows, healthRows, rulesOf] = await Promise.all([
    findWhatsAppAccountsById(deps.db, refs),
    findHealthOf(deps.db, refs),
    findRules(
      deps.db,
      refs.map(({ accountId }) => accountId),
    ),
  ])
  const healthOf = new Map(healthRows.map((health) => [health.whatsapp_account_id, health]))
  for (const row of rows) {
    const health = healthOf.get(row.id)
    if (health) await logChanges(deps, { row, health, rules: rulesOf(row.account_id) })
  }
}

interface Known {
  row: WhatsAppAccountRow
  health: HealthRow
  rules: AlertRules
}

async function logChanges(deps: LogDeps, { row, health, rules }: Known): Promise<void> {
  const ref = { accountId: row.account_id, whatsAppAccountId: row.id }
  const now = deps.now()
  const findings = findProblems(toFacts(deps, row, health, rules), now).filter(({ code }) => !inactiveCodes.has(code))
  const before = health.announced_findings
  const after = findings.map(({ code }) => code).toSorted()
  if (before.join() === after.join()) return
  const since = Object.fromEntries(after.map((code) => [code, health.findings_since[code] ?? now.toISOString()]))
  if (!(await replaceAnnouncedFindings(deps.db, ref, { from: before, to: after, since }))) return
  for (const { code, severity, ...said } of findings.filter((finding) => !before.includes(finding.code))) {
    const { message, fix } = allInEnglish({ message: said.message, fix: said.fix })
    deps.log[severity === 'error' ? 'error' : 'warn']({ ...ref, finding: code, fix }, `WhatsApp account: ${message}`)
  }
  for (const code of before.filter((known) => !after.includes(known)))
    deps.log.info({ ...ref, finding: code }, 'WhatsApp account: problem resolved')
}
