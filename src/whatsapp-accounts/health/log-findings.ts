import type { Deps } from '../../deps.ts'
import { findRules } from '../../accounts/alert-rules.ts'
import { findWhatsAppAccount, type WhatsAppAccountRef } from '../store.ts'
import { toFacts } from './facts.ts'
import { findProblems, inactiveCodes } from './findings.ts'
import { findHealth, replaceAnnouncedFindings } from './store.ts'

/** Logs new and resolved findings: each change once, on one node. */
export async function logFindings(
  deps: Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl'>,
  ref: WhatsAppAccountRef,
): Promise<void> {
  const row = await findWhatsAppAccount(deps.db, ref.accountId, ref.whatsAppAccountId)
  const health = await findHealth(deps.db, ref)
  if (!row || !health) return
  const rules = (await findRules(deps.db, [ref.accountId]))(ref.accountId)
  const now = deps.now()
  const findings = findProblems(toFacts(deps, row, health, rules), now).filter(({ code }) => !inactiveCodes.has(code))
  const before = health.announced_findings
  const after = findings.map(({ code }) => code).toSorted()
  if (before.join() === after.join()) return
  const since = Object.fromEntries(after.map((code) => [code, health.findings_since[code] ?? now.toISOString()]))
  if (!(await replaceAnnouncedFindings(deps.db, ref, { from: before, to: after, since }))) return
  for (const { code, severity, message, fix } of findings.filter((finding) => !before.includes(finding.code)))
    deps.log[severity === 'error' ? 'error' : 'warn']({ ...ref, finding: code, fix }, `WhatsApp account: ${message}`)
  for (const code of before.filter((known) => !after.includes(known)))
    deps.log.info({ ...ref, finding: code }, 'WhatsApp account: problem resolved')
}
