import type { Deps } from '../../../deps.ts'
import { findRules } from '../../alert-rules.ts'
import { findWhatsAppAccount } from '../store.ts'
import { toFacts } from './facts.ts'
import { findProblems, inactiveCodes } from './findings.ts'
import { findHealth, type HealthOwner, replaceAnnouncedFindings } from './store.ts'

/** Logs findings that are new since the last check, and those that are gone: each change once, on one node. */
export async function logFindings(
  deps: Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl'>,
  owner: HealthOwner,
): Promise<void> {
  const row = await findWhatsAppAccount(deps.db, owner.accountId, owner.whatsAppAccountId)
  const health = await findHealth(deps.db, owner)
  if (!row || !health) return
  const rules = (await findRules(deps.db, [owner.accountId]))(owner.accountId)
  const now = deps.now()
  const findings = findProblems(toFacts(deps, row, health, rules), now).filter(({ code }) => !inactiveCodes.has(code))
  const before = health.announced_findings
  const after = findings.map(({ code }) => code).toSorted()
  if (before.join() === after.join()) return
  const since = Object.fromEntries(after.map((code) => [code, health.findings_since[code] ?? now.toISOString()]))
  if (!(await replaceAnnouncedFindings(deps.db, owner, { from: before, to: after, since }))) return
  for (const { code, severity, message, fix } of findings.filter((finding) => !before.includes(finding.code)))
    deps.log[severity === 'error' ? 'error' : 'warn']({ ...owner, finding: code, fix }, `WhatsApp account: ${message}`)
  for (const code of before.filter((known) => !after.includes(known)))
    deps.log.info({ ...owner, finding: code }, 'WhatsApp account: a problem is solved')
}
