import { changes } from '../../../contracts/facts/changes.ts'
import { accountNotFound } from '../../accounts/account.ts'
import { findAccount } from '../../accounts/store.ts'
import { audited } from '../../users/audit/audit.ts'
import { exportAccount } from '../account-data/export.ts'
import { hasData, removeAccount, removeAuditLog } from '../account-data/remove.ts'
import { dataCommand, printed } from '../command.ts'
import { UsageError, waybill } from '../failure.ts'

export const accountExport = dataCommand({
  name: 'account export',
  summary: 'Export the data of an account as JSON Lines, without secrets',
  args: ['ACC'],
  options: {},
  notes: [
    'Prints one JSON document per line, with and without --json. The guide "Move, export and erase data" describes the\nrecords. The last line, of type "end", counts them: without it, the export is incomplete.',
  ],
  examples: ['waybill account export acc_… > acc_….jsonl', 'waybill account export acc_… | gzip > acc_….jsonl.gz'],
  audit: () => changes.exportAccount(),
  run: async (deps, { args: [accountId] }, { print }) => {
    for await (const lines of exportAccount(deps, accountId)) await print(lines.join('\n'))
    return printed()
  },
})

export const accountRemove = dataCommand({
  name: 'account remove',
  summary: 'Remove an account with all its data',
  args: ['ACC'],
  options: {
    confirm: { value: 'ACC', help: 'The same ID again, so that no account is removed by mistake' },
    'audit-log': { help: 'Also remove the audit log, which otherwise remains until its entries expire' },
  },
  notes: [
    'Every process rejects the API key and the members of the account at once. Messages, events, deliveries and counts\nfollow in short statements. If the command is interrupted, run it again. Export the account first: there is no undo.',
    'Members without another account are deleted. A number of the account stays registered at Meta.',
  ],
  examples: ['waybill account remove acc_… --confirm acc_…'],
  run: async (deps, { args: [accountId], options: { confirm: given, 'audit-log': withAuditLog = false } }, user) => {
    const account = await findAccount(deps.db, accountId)
    if (!account && !(await hasData(deps.db, accountId))) throw accountNotFound(accountId)
    const what = account ? `the account "${account.name}" with all its data` : 'the rest of a removed account'
    const confirm = given ?? (await user.ask({ text: `Type ${accountId} to remove ${what}:` }))
    if (confirm === undefined)
      return {
        json: { accountId, removed: null },
        text: `Nothing was removed. To remove ${what}, add --confirm ${accountId}`,
        exitCode: 2,
      }
    if (confirm !== accountId)
      throw new UsageError(`--confirm must repeat the ID of the account: --confirm ${accountId}`)
    const change = { accountId, who: 'operator', what: changes.removeAccount(), address: 'command line' }
    const removed = await audited(deps, change, () => removeAccount(deps.db, accountId, user.report))
    if (withAuditLog) await removeAuditLog(deps.db, accountId)
    const rows = Object.values(removed).reduce((sum, count) => sum + count, 0)
    const log = withAuditLog
      ? 'Its audit log is removed too.'
      : `Its audit log remains: ${waybill} audit list ${accountId}`
    return {
      json: { accountId, removed, auditLog: withAuditLog ? 'removed' : 'kept' },
      text: `Account ${accountId} is removed, with ${rows} rows of its data. ${log}`,
    }
  },
})
