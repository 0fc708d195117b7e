import type { z } from 'zod'
import { type AuditEntry, listAudit as listContract } from '../../../contracts/dashboard/owner.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { listAudit } from '../../users/audit/audit.ts'
import { exportAudit } from '../../users/audit/export.ts'
import { findAuditChain, findNextAuditedAccount } from '../../users/audit/store.ts'
import { type AuditVerification, verifyAudit } from '../../users/audit/verify.ts'
import { dataCommand } from '../command.ts'
import { UsageError } from '../failure.ts'
import { formatTable } from '../help.ts'

export const auditList = dataCommand({
  name: 'audit list',
  summary: 'List what was changed in an account, by whom and from where, newest first, a page at a time',
  args: ['ACC'],
  options: {
    cursor: { value: 'CURSOR', help: 'nextCursor of the page before' },
    limit: { value: 'N', help: 'Actions per page, 1 to 100, 50 if not given', number: true },
  },
  examples: ['waybill audit list acc_…', 'waybill audit list acc_… --limit 100 --json'],
  run: async (deps, { args: [accountId], options: { cursor, limit } }) => {
    await requireAuditLog(deps, accountId)
    const page = await listAudit(deps, parsePage({ accountId, cursor, limit: limit && Number(limit) }))
    return { json: page, text: formatPage(page.items, page.nextCursor) }
  },
})

export const auditVerify = dataCommand({
  name: 'audit verify',
  summary:
    'Check that no entry of the audit log was changed, removed or inserted; of all accounts unless some are given',
  args: [],
  rest: 'ACC',
  options: {
    expect: { value: 'HASH', help: 'A hash that an earlier run printed: fails unless the log still holds that entry' },
  },
  notes: [
    'Prints the head of each log: the number and hash of its last entry. Keep it elsewhere and pass it to --expect\nlater: a log that was set back to an earlier state, or replaced as a whole, is found by that alone.\nExits with 1 if a log is broken, and names the first entry that is wrong.',
  ],
  examples: [
    'waybill audit verify',
    'waybill audit verify acc_… --expect 5f0c…',
    'waybill audit verify --json > heads.json',
  ],
  run: async (deps, { rest, options: { expect: expected } }, report) => {
    if (expected !== undefined && rest.length !== 1) throw new UsageError('--expect needs exactly one account.')
    if (expected !== undefined && !/^[0-9a-f]{64}$/i.test(expected))
      throw new UsageError('--expect must be a hash of 64 hexadecimal characters.')
    for (const accountId of rest) await requireAuditLog(deps, accountId)
    const results: AuditVerification[] = []
    for await (const accountId of rest.length > 0 ? rest : listAuditedAccounts(deps)) {
      results.push(await verifyAudit(deps, accountId, { expectedHash: expected?.toLowerCase() }))
      if (results.length % 100 === 0) report(`${results.length} accounts verified`)
    }
    const ok = results.every((result) => result.ok)
    const text = results.map(describeVerification).join('\n') || 'There is no account.'
    return { json: { ok, items: results }, text, exitCode: ok ? 0 : 1 }
  },
})

export const auditExport = dataCommand({
  name: 'audit export',
  summary: 'Print the audit log of an account as JSON Lines: every entry, oldest first, and the head of its chain',
  args: ['ACC'],
  options: {},
  notes: [
    'One JSON document per line, with and without --json. SECURITY.md says how to recompute the hashes. Export the\nlog before you remove an account, and from time to time, since entries expire after a year.',
  ],
  examples: ['waybill audit export acc_… > acc_….jsonl'],
  run: async (deps, { args: [accountId] }, _report, print) => {
    await requireAuditLog(deps, accountId)
    for await (const lines of exportAudit(deps, accountId)) await print(lines.join('\n'))
    return { json: null, text: '', isPrinted: true }
  },
})

/** An account that has been removed may still have its log. */
async function requireAuditLog({ db }: Pick<Deps, 'db'>, accountId: string): Promise<void> {
  if (!(await findAuditChain(db, accountId))) await requireAccount(db, accountId)
}

async function* listAuditedAccounts({ db }: Pick<Deps, 'db'>): AsyncGenerator<string> {
  for (let id = await findNextAuditedAccount(db, ''); id !== undefined; id = await findNextAuditedAccount(db, id))
    yield id
}

/** The contract's own rules, under the names that were typed. */
function parsePage(input: object): z.output<(typeof listContract)['input']> {
  const parsed = listContract.input.safeParse(input)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UsageError(`--${String(issue?.path[0])} ${issue?.message}.`)
}

const outcomes = {
  started: 'outcome unknown',
  done: 'done',
  refused: 'refused',
} satisfies Record<z.output<typeof AuditEntry>['outcome'], string>

function formatPage(items: z.output<typeof AuditEntry>[], nextCursor: string | undefined): string {
  if (items.length === 0) return 'Nothing was changed yet.'
  const table = formatTable(
    ['WHEN', 'WHO', 'WHAT', 'FROM', 'OUTCOME'],
    items.map(({ at, who, what, address, outcome }) => [at, who, what, address, outcomes[outcome]]),
  )
  return nextCursor === undefined ? table : `${table}\n\nMore: --cursor ${nextCursor}`
}

function describeVerification({ accountId, entries, head, expired, fault }: AuditVerification): string {
  if (fault) return `✗ ${accountId}: broken at entry ${fault.sequence}: ${fault.reason}`
  if (!head) return `✓ ${accountId}: no entries`
  const range = expired ? `, entries up to ${expired.sequence} have expired` : ''
  return `✓ ${accountId}: ${entries} ${entries === 1 ? 'entry' : 'entries'}${range}; head ${head.sequence} ${head.hash}`
}
