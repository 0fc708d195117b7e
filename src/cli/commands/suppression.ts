import {
  listSuppressions as listContract,
  maxImportedRecipients,
  type Suppression,
  suppressionReasons,
} from '../../../contracts/api/suppression.ts'
import { changes } from '../../../contracts/changes.ts'
import { PhoneNumber } from '../../../contracts/fields.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { getSuppressionSettings, setSuppressedCategories } from '../../messages/suppressions/settings.ts'
import {
  addSuppression,
  importSuppressions,
  listSuppressions,
  removeSuppression,
} from '../../messages/suppressions/suppressions.ts'
import { dataCommand } from '../command.ts'
import { UsageError } from '../failure.ts'
import { formatTable } from '../help.ts'
import { parseOptions } from '../parse-options.ts'

export const suppressionList = dataCommand({
  name: 'suppression list',
  summary: 'List the recipients who opted out, newest first, and the template categories blocked for them',
  args: ['ACC'],
  options: {
    to: { value: 'NUMBER', help: 'Only this recipient' },
    reason: {
      value: 'REASON',
      help: `Only recipients with this reason: ${suppressionReasons.join(', ')}`,
      choices: suppressionReasons,
    },
    cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
    limit: { value: 'N', help: 'Recipients per page, 1 to 100 (default 20)', number: true },
  },
  examples: ['waybill suppression list acc_…', 'waybill suppression list acc_… --to 34600111222 --json'],
  run: async (deps, { args: [accountId], options }) => {
    const { categories } = await getSuppressionSettings(deps, accountId)
    const page = await listSuppressions(deps, { accountId }, parseFilter(options))
    return { json: { ...page, categories }, text: formatList(page.items, categories, page.nextCursor) }
  },
})

function parseFilter({ limit, ...filter }: Record<string, string | undefined>) {
  return parseOptions(listContract.input, { ...filter, limit: limit === undefined ? undefined : Number(limit) })
}

function formatList(items: Suppression[], categories: string[], nextCursor: string | undefined): string {
  const setting = `Blocked for suppressed recipients: ${categories.join(', ')} templates.`
  if (items.length === 0) return `No recipients. ${setting}`
  const table = formatTable(
    ['RECIPIENT', 'STOPPED', 'REASON', 'SINCE', 'WHATSAPP ACCOUNT'],
    items.map(({ to, allMessages, reason, since, accountId }) => [
      to,
      allMessages ? 'all messages' : 'by category',
      reason,
      since,
      accountId ?? '',
    ]),
  )
  const more = nextCursor === undefined ? [] : [`More: --cursor ${nextCursor}`]
  return [table, setting, ...more].join('\n')
}

const allMessages = { help: 'Stop messages of all categories, not only of the blocked ones' }

export const suppressionAdd = dataCommand({
  name: 'suppression add',
  summary: 'Add a recipient to the suppression list of an account',
  args: ['ACC', 'NUMBER'],
  options: { 'all-messages': allMessages },
  notes: ['A recipient who was added here stays on the list until a user or an operator removes them.'],
  examples: ['waybill suppression add acc_… 34600111222', 'waybill suppression add acc_… 34600111222 --all-messages'],
  audit: () => changes.addSuppressions(1),
  run: async (deps, { args: [accountId, number], options }) => {
    await requireAccount(deps.db, accountId)
    const json = await addSuppression(
      deps,
      { accountId },
      {
        to: parseNumber(number),
        allMessages: options['all-messages'] === true,
      },
    )
    return { json, text: formatAdded(json.added ? 1 : 0, json.added ? 0 : 1) }
  },
})

export const suppressionImport = dataCommand({
  name: 'suppression import',
  summary: 'Add many recipients to the suppression list of an account; none is added if a number is malformed',
  args: ['ACC', 'NUMBER'],
  rest: 'NUMBER',
  options: { 'all-messages': allMessages },
  examples: ['waybill suppression import acc_… $(cat opted-out.txt)'],
  audit: ({ rest }) => changes.addSuppressions(rest.length + 1),
  run: async (deps, { args: [accountId, first], rest, options }) => {
    await requireAccount(deps.db, accountId)
    const json = await importAll(deps, accountId, {
      numbers: [first, ...rest].map(parseNumber),
      allMessages: options['all-messages'] === true,
    })
    return { json, text: formatAdded(json.added, json.alreadySuppressed) }
  },
})

async function importAll(
  deps: Deps,
  accountId: string,
  { numbers, allMessages }: { numbers: string[]; allMessages: boolean },
) {
  const total = { added: 0, alreadySuppressed: 0 }
  for (let start = 0; start < numbers.length; start += maxImportedRecipients) {
    const recipients = numbers.slice(start, start + maxImportedRecipients)
    const { added, alreadySuppressed } = await importSuppressions(deps, { accountId }, { recipients, allMessages })
    total.added += added
    total.alreadySuppressed += alreadySuppressed
  }
  return total
}

function formatAdded(added: number, already: number): string {
  return `Added ${added} to the suppression list${already === 0 ? '' : `; ${already} were already on it`}.`
}

export const suppressionRemove = dataCommand({
  name: 'suppression remove',
  summary: 'Remove a recipient from the suppression list of an account',
  args: ['ACC', 'NUMBER'],
  options: {},
  notes: ['WhatsApp still rejects marketing messages to a recipient who stopped them in WhatsApp.'],
  examples: ['waybill suppression remove acc_… 34600111222'],
  audit: changes.removeSuppression,
  run: async (deps, { args: [accountId, number] }) => {
    await requireAccount(deps.db, accountId)
    const json = await removeSuppression(deps, { accountId }, { to: parseNumber(number) })
    return { json, text: json.removed ? `Removed ${number}.` : `${number} was not on the suppression list.` }
  },
})

export const suppressionCategories = dataCommand({
  name: 'suppression categories',
  summary: 'Set the template categories blocked for suppressed recipients; MARKETING is always blocked',
  args: ['ACC'],
  rest: 'CATEGORY',
  options: {},
  examples: ['waybill suppression categories acc_… MARKETING UTILITY', 'waybill suppression categories acc_…'],
  audit: ({ rest }) => changes.setSuppressedCategories(rest),
  run: async (deps, { args: [accountId], rest }) => {
    const json = await setSuppressedCategories(deps, accountId, rest)
    return { json, text: `Blocked for suppressed recipients: ${json.categories.join(', ')} templates.` }
  },
})

function parseNumber(text: string): string {
  const number = PhoneNumber.safeParse(text)
  if (!number.success) throw new UsageError(`${JSON.stringify(text)} ${number.error.issues[0]?.message}.`)
  return number.data
}
