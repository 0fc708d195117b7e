import { dataCommand } from '../command.ts'
import { type CheckResult, runChecks } from '../doctor.ts'

export const doctor = dataCommand({
  name: 'doctor',
  summary: 'Check everything that a send requires, and show how to fix problems',
  args: [],
  options: {},
  needsSchema: false,
  notes: [
    'Checks the database, the secret key, the access token of each WhatsApp account, templates and messages.\n✗ marks problems, which end the command with 1, and ! marks warnings, which do not.',
  ],
  examples: ['waybill doctor', 'waybill doctor --json'],
  run: async (deps) => {
    const findings = await runChecks(deps)
    const ok = findings.every((finding) => finding.ok)
    const json = { ok, findings: findings.map((finding) => ({ ...finding, severity: severityOf(finding) })) }
    return { json, text: findings.map(formatFinding).join('\n'), exitCode: ok ? 0 : 1 }
  },
})

const marks = { ok: '✓', warning: '!', error: '✗' }

/** Something to fix is a warning at least. */
function severityOf({ ok, fix }: CheckResult): keyof typeof marks {
  if (!ok) return 'error'
  return fix === undefined ? 'ok' : 'warning'
}

function formatFinding(finding: CheckResult): string {
  const { check, message, fix } = finding
  const line = `${marks[severityOf(finding)]} ${check}: ${message}`
  return fix === undefined ? line : `${line}\n  → ${fix}`
}
