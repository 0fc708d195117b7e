import { dataCommand } from '../command.ts'
import { type Finding, runChecks } from '../doctor.ts'

export const doctor = dataCommand({
  name: 'doctor',
  summary: 'Check everything that a send requires, and show how to fix problems',
  args: [],
  options: {},
  needsSchema: false,
  notes: ['Checks the database, the secret key, the access token of each WhatsApp account, templates and messages.'],
  examples: ['waybill doctor', 'waybill doctor --json'],
  run: async (deps) => {
    const findings = await runChecks(deps)
    const ok = findings.every((finding) => finding.ok)
    return { json: { ok, findings }, text: findings.map(formatFinding).join('\n'), exitCode: ok ? 0 : 1 }
  },
})

function formatFinding({ check, ok, message, fix }: Finding): string {
  const line = `${ok ? '✓' : '✗'} ${check}: ${message}`
  return fix === undefined ? line : `${line}\n  → ${fix}`
}
