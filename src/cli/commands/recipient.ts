import { changes } from '../../../contracts/facts/changes.ts'
import { PhoneNumber, userIdPattern } from '../../../contracts/fields.ts'
import { listAccounts, requireAccount } from '../../accounts/account.ts'
import { type Erased, eraseRecipient } from '../../messages/erasure/erase.ts'
import { listColumnGroups } from '../../messages/erasure/sweep.ts'
import { findEmbeddedDatabase } from '../../platform/db/database.ts'
import { rewriteTables } from '../../platform/db/leaf-tables.ts'
import { audited } from '../../users/audit/audit.ts'
import { exportRecipient, listNamesOf } from '../account-data/export-recipient.ts'
import { auditedForOperator, dataCommand, printed } from '../command.ts'
import { UsageError, waybill } from '../failure.ts'

export const recipientErase = dataCommand({
  name: 'recipient erase',
  summary: 'Erase a person, by number or user ID, from everything that is stored (GDPR, article 17)',
  args: ['RECIPIENT'],
  options: {
    account: { value: 'ACC', help: 'Only in this account (default: in all accounts)' },
    rewrite: {
      help: 'Also rewrite the tables, so that no old version of a row remains on disk; each table is locked meanwhile',
    },
  },
  notes: [
    'The numbers and user IDs under which WhatsApp knows the person are erased too, and their entries in the contact book that\nMeta keeps for the business. Messages remain without a recipient: the API shows "erased", and counts do not change. A\nperson who opted out stays on the suppression list, as "erased", with a keyed hash in place of each name. Stop sending to\nthe person first, because a later send stores the name again. If the command is interrupted, run it again.',
    'PostgreSQL keeps old versions of changed rows on disk until it vacuums the tables. With --rewrite they are removed at\nonce. Backups, and on a PostgreSQL server the archive of its write-ahead log, keep the number until they expire.',
  ],
  examples: ['waybill recipient erase 34600111222', 'waybill recipient erase 34600111222 --account acc_… --rewrite'],
  run: async (deps, { args: [given], options: { account, rewrite } }, { report }) => {
    const recipient = parseRecipient(given)
    if (account !== undefined) await requireAccount(deps.db, account)
    const erased = await eraseRecipient(
      deps,
      { recipient, accountId: account },
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
        'recipient_identities',
        'wa_message_ids',
        'message_contents',
      ]
      await rewriteTables(deps.db, tables, (table) => report(`${table}: rewriting`))
    }
    const isEmbedded = findEmbeddedDatabase(deps.db) !== undefined
    return {
      json: { ...erased, rewritten: rewrite === true },
      text: describeErasure(erased, { rewritten: rewrite === true, isEmbedded }),
      exitCode: erased.complete ? 0 : 1,
    }
  },
})

export const recipientExport = dataCommand({
  name: 'recipient export',
  summary: 'Export what is stored about a person, by number or user ID, as JSON (GDPR, articles 15 and 20)',
  args: ['RECIPIENT'],
  options: { account: { value: 'ACC', help: 'Only of this account (default: of all accounts)' } },
  notes: [
    'Prints one JSON document, with and without --json. It has a line for each record: opt-outs, one-time codes without the\ncode, messages, stored contents, and events with replies. The guide "Move, export and erase data" describes them.',
  ],
  examples: ['waybill recipient export 34600111222 > person.json'],
  audit: 'by itself',
  run: async (deps, { args: [given], options: { account } }, { print }) => {
    const recipient = parseRecipient(given)
    const accountIds = account === undefined ? (await listAccounts(deps)).map((one) => one.accountId) : [account]
    if (account !== undefined) await requireAccount(deps.db, account)
    const names = await listNamesOf(deps.db, { recipient, accountId: account })
    await print(`{"recipient":${JSON.stringify(recipient)},"names":${JSON.stringify(names)},"records":[`)
    let separator = ''
    async function printPage(accountId: string, records: readonly object[]): Promise<void> {
      await print(separator + records.map((record) => JSON.stringify({ accountId, ...record })).join(',\n'))
      separator = ','
    }
    for (const accountId of accountIds) {
      const pages = exportRecipient(deps, accountId, names)
      const first = await pages.next()
      if (first.done === true) continue
      await auditedForOperator(deps, { what: changes.exportRecipient(), accountId }, async () => {
        await printPage(accountId, first.value)
        for await (const page of pages) await printPage(accountId, page)
      })
    }
    await print(`],"exportedAt":${JSON.stringify(deps.now())}}`)
    return printed()
  },
})

function parseRecipient(given: string): string {
  if (userIdPattern.test(given)) return given
  const number = PhoneNumber.safeParse(given.replace(/^\+/, ''))
  if (number.success) return number.data
  throw new UsageError(`RECIPIENT ${number.error.issues[0]?.message}, or a user ID such as ES.2041776300912345.`)
}

export function describeErasure(
  { accountIds, messages, rows, replies, contactBook, complete, unsettled }: Erased,
  { rewritten, isEmbedded }: { rewritten: boolean; isEmbedded: boolean },
): string {
  const others = Object.entries(rows).map(([table, count]) => `${count} in ${table}`)
  return [
    messages === 0 && others.length === 0
      ? 'The recipient is not stored.'
      : `Erased the recipient from ${messages} ${messages === 1 ? 'message' : 'messages'}${others.length === 0 ? '' : ` and from further rows: ${others.join(', ')}`}.`,
    ...(replies === 0
      ? []
      : [
          replies === 1
            ? 'Removed the words of 1 reply from its event.'
            : `Removed the words of ${replies} replies from their events.`,
        ]),
    ...(contactBook.deleted === 0 ? [] : [`Deleted ${contactBook.deleted} from Meta's contact book.`]),
    ...(contactBook.failed.length === 0
      ? []
      : [
          "Meta's contact book may still have the person: WhatsApp did not answer, or rejected the access token. Then run:",
          ...contactBook.failed.map(
            ({ accountId, userId }) => `  ${waybill} recipient erase ${userId} --account ${accountId}`,
          ),
        ]),
    ...(accountIds.length === 0 ? [] : [`Accounts: ${accountIds.join(', ')}.`]),
    ...(complete ? [] : [unsettled ? longTransaction : storedAgain]),
    ...(rewritten ? [] : [remainder(isEmbedded)]),
  ].join('\n')
}

const storedAgain = 'The recipient was stored again meanwhile. Stop the sends to them, and run the command again.'
const longTransaction =
  'A transaction that has been open for long prevents the last check. Find it in pg_stat_activity or pg_prepared_xacts, end it, and run the command again.'

function remainder(isEmbedded: boolean): string {
  const vacuum = isEmbedded ? 'the next vacuum and the reuse of the write-ahead log' : 'the next vacuum of each table'
  return `Old versions of the rows can remain on disk until ${vacuum}. To remove them now, add --rewrite.`
}
