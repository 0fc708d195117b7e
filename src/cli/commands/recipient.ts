import { PhoneNumber } from '../../../contracts/fields.ts'
import { requireAccount } from '../../accounts/account.ts'
import { type Erased, eraseRecipient } from '../../messages/erasure/erase.ts'
import { listColumnGroups } from '../../messages/erasure/sweep.ts'
import { findEmbeddedDatabase } from '../../platform/db/database.ts'
import { rewriteTables } from '../../platform/db/rewrite.ts'
import { audited } from '../../users/audit/audit.ts'
import { dataCommand } from '../command.ts'
import { UsageError } from '../failure.ts'

export const recipientErase = dataCommand({
  name: 'recipient erase',
  summary: 'Erase the number of a person from everything that is stored (GDPR, article 17)',
  args: ['NUMBER'],
  options: {
    account: { value: 'ACC', help: 'Only in this account (default: in all accounts)' },
    rewrite: {
      help: 'Also rewrite the tables, so that no old version of a row remains on disk; each table is locked meanwhile',
    },
  },
  notes: [
    'Messages to the number remain without it: the API shows "erased" as their recipient, and counts do not change.\nA recipient who opted out stays on the suppression list, as "erased", with a keyed hash in place of the number.\nStop sending to the number first, because a later send stores it again. If the command is interrupted, run it again.',
    'PostgreSQL keeps old versions of changed rows on disk until it vacuums the tables. With --rewrite they are removed at\nonce. Backups, and on a PostgreSQL server the archive of its write-ahead log, keep the number until they expire.',
  ],
  examples: ['waybill recipient erase 34600111222', 'waybill recipient erase 34600111222 --account acc_… --rewrite'],
  run: async (deps, { args: [given], options: { account, rewrite } }, report) => {
    const number = parseNumber(given)
    if (account !== undefined) await requireAccount(deps.db, account)
    const erased = await eraseRecipient(
      deps,
      { number, accountId: account },
      {
        report: ({ table, rows }) => report(`${table}: ${rows} rows searched`),
        audited: (accountId, what, run) =>
          audited(deps, { accountId, who: 'operator', what, address: 'command line' }, run),
      },
    )
    if (rewrite) {
      const tables = [
        ...new Set(listColumnGroups().map(({ table }) => table)),
        'suppressions',
        'wa_message_ids',
        'message_contents',
      ]
      await rewriteTables(deps.db, tables, (table) => report(`${table}: rewriting`))
    }
    const isEmbedded = findEmbeddedDatabase(deps.db) !== undefined
    return {
      json: { ...erased, rewritten: rewrite === true },
      text: describe(erased, { rewritten: rewrite === true, isEmbedded }),
      exitCode: erased.complete ? 0 : 1,
    }
  },
})

function parseNumber(given: string): string {
  const number = PhoneNumber.safeParse(given.replace(/^\+/, ''))
  if (number.success) return number.data
  throw new UsageError(`NUMBER ${number.error.issues[0]?.message}.`)
}

function describe(
  { accountIds, messages, rows, complete }: Erased,
  { rewritten, isEmbedded }: { rewritten: boolean; isEmbedded: boolean },
): string {
  const others = Object.entries(rows).map(([table, count]) => `${count} in ${table}`)
  return [
    messages === 0 && others.length === 0
      ? 'The number is not stored.'
      : `Erased the number from ${messages} messages${others.length === 0 ? '' : ` and from further rows: ${others.join(', ')}`}.`,
    ...(accountIds.length === 0 ? [] : [`Accounts: ${accountIds.join(', ')}.`]),
    ...(complete ? [] : ['The number was stored again meanwhile. Stop the sends to it, and run the command again.']),
    ...(rewritten ? [] : [remainder(isEmbedded)]),
  ].join('\n')
}

function remainder(isEmbedded: boolean): string {
  const vacuum = isEmbedded ? 'the next vacuum and the reuse of the write-ahead log' : 'the next vacuum of each table'
  return `Old versions of the rows can remain on disk until ${vacuum}. To remove them now, add --rewrite.`
}
