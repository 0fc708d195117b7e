import type { z } from 'zod'
import { type AuditEntry, listAudit } from '../../../contracts/dashboard/user.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { exportAudit } from '../../users/audit/audit.ts'
import { findAuditChain, findNextAuditedAccount } from '../../users/audit/store.ts'
import { type AuditVerification, verifyAudit } from '../../users/audit/verify.ts'
import { dataCommand, printed } from '../command.ts'
import { contractCommand } from '../contract-command.ts'
import { UsageError } from '../failure.ts'
import { formatTable } from '../help.ts'

export const auditList = contractCommand(listAudit, {
  name: 'audit list',
  summary: 'List the changes of an account, with user and IP address, newest first',
  args: { ACC: 'accountId' },
  findAccount: async (db, accountId) => {
    await requireAuditLog({ db }, accountId)
    return accountId
  },
  options: {
    cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
    limit: { value: 'N', help: 'Actions per page, 1 to 100 (default 50)' },
  },
  examples: ['waybill audit list acc_…', 'waybill audit list acc_… --limit 100 --json'],
  text: ({ items, nextCursor }) => formatPage(items, nextCursor),
})

export const auditVerify = dataCommand({
  name: 'audit verify',
  summary: 'Verify that no audit log entry was changed, removed or inserted (default: in all accounts)',
  args: [],
  rest: 'ACC',
  options: {
    expect: { value: 'HASH', help: 'Hash from an earlier run; fails if the log no longer has that entry' },
  },
  notes: [
    'Prints the head of each log: the number and hash of its last entry. Store it elsewhere and pass it to --expect\nlater: only this detects a log that was rolled back to an earlier state or replaced as a whole.\nExits with 1 if a log is broken, and shows the first invalid entry.',
  ],
  examples: [
    'waybill audit verify',
    'waybill audit verify acc_… --expect 5f0c…',
    'waybill audit verify --json > heads.json',
  ],
  run: async (deps, { rest, options: { expect: expected } }, { report }) => {
    if (expected !== undefined && rest.length !== 1) throw new UsageError('--expect requires exactly one account.')
    if (expected !== undefined && !/^[0-9a-f]{64}$/i.test(expected))
      throw new UsageError('--expect must be a hash of 64 hexadecimal characters.')
    for (const accountId of rest) await requireAuditLog(deps, accountId)
    const results: AuditVerification[] = []
    for await (const accountId of rest.length > 0 ? rest : listAuditedAccounts(deps)) {
      results.push(await verifyAudit(deps, accountId, { expectedHash: expected?.toLowerCase() }))
      if (results.length % 100 === 0) report(`${results.length} accounts verified`)
    }
    const ok = results.every((result) => result.ok)
    const text = results.map(describeVerification).join('\n') || 'No accounts.'
    return { json: { ok, items: results }, text, exitCode: ok ? 0 : 1 }
  },
})

export const auditExport = dataCommand({
  name: 'audit export',
  summary: 'Export the audit log of an account as JSON Lines: all entries, oldest first, and the head of the chain',
  args: ['ACC'],
  options: {},
  notes: [
    'Prints one JSON document per line, with and without --json. SECURITY.md explains how to recompute the hashes.\nExport the log regularly and before you remove an account, because entries expire after a year.',
  ],
  examples: ['waybill audit export acc_… > acc_….jsonl'],
  run: async (deps, { args: [accountId] }, { print }) => {
    await requireAuditLog(deps, accountId)
    for await (const lines of exportAudit(deps, accountId)) await print(lines.join('\n'))
    return printed()
  },
})

/** A removed account may still have an audit log. */
async function requireAuditLog({ db }: Pick<Deps, 'db'>, accountId: string): Promise<void> {
  if (!(await findAuditChain(db, accountId))) await requireAccount(db, accountId)
}

async function* listAuditedAccounts({ db }: Pick<Deps, 'db'>): AsyncGenerator<string> {
  for (let id = await findNextAuditedAccount(db, ''); id !== undefined; id = await findNextAuditedAccount(db, id))
    yield id
}

const outcomes = {
  started: 'outcome unknown',
  done: 'done',
  refused: 'refused',
} satisfies Record<z.output<typeof AuditEntry>['outcome'], string>

function formatPage(items: z.output<typeof AuditEntry>[], nextCursor: string | undefined): string {
  if (items.length === 0) return 'No changes.'
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
