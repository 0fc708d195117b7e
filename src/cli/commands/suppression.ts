import { maxImportedRecipients, suppressionReasons } from '../../../contracts/api/suppression.ts'
import {
  addSuppression,
  getSuppressionSettings,
  importSuppressions,
  listSuppressions,
  removeSuppression,
  setSuppressedCategories,
  type UserSuppression,
} from '../../../contracts/dashboard/suppression.ts'
import { isUserId } from '../../messages/recipients/plan-identities.ts'
import { contractCommand } from '../contract-command.ts'
import { formatTable } from '../help.ts'

/** A user ID has a field of its own. */
const moveUserId = (text: unknown) =>
  typeof text === 'string' && isUserId(text) ? { to: undefined, recipient: text } : {}

const allMessages = { help: 'Stop messages of all categories, not only of the blocked ones' }

export const suppressionCommands = [
  contractCommand(listSuppressions, {
    name: 'suppression list',
    summary: 'List the recipients who opted out, newest first, and the template categories blocked for them',
    args: { ACC: 'accountId' },
    options: {
      to: { value: 'RECIPIENT', help: 'Only this recipient: a number, or a user ID' },
      reason: { value: 'REASON', help: `Only recipients with this reason: ${suppressionReasons.join(', ')}` },
      cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
      limit: { value: 'N', help: 'Recipients per page, 1 to 100 (default 20)' },
    },
    examples: ['waybill suppression list acc_…', 'waybill suppression list acc_… --to 34600111222 --json'],
    fields: ({ options: { to } }) => moveUserId(to),
    run: async ({ call }, fields) => ({
      ...(await call(listSuppressions, fields)),
      ...(await call(getSuppressionSettings, {})),
    }),
    text: formatList,
  }),
  contractCommand(addSuppression, {
    name: 'suppression add',
    summary: 'Add a recipient to the suppression list of an account',
    args: { ACC: 'accountId', RECIPIENT: 'to' },
    options: { 'all-messages': allMessages },
    fields: ({ args: [, recipient] }) => moveUserId(recipient),
    notes: [
      'RECIPIENT is a number, or the user ID of someone who hides it.',
      'A recipient who was added here stays on the list until a user or an operator removes them.',
    ],
    examples: ['waybill suppression add acc_… 34600111222', 'waybill suppression add acc_… 34600111222 --all-messages'],
    text: ({ added }) => formatAdded(added ? 1 : 0, added ? 0 : 1),
  }),
  contractCommand(importSuppressions, {
    name: 'suppression import',
    summary: 'Add many recipients to the suppression list of an account; none is added if one is malformed',
    args: { ACC: 'accountId', RECIPIENT: null },
    rest: { placeholder: 'RECIPIENT', field: 'recipients' },
    options: { 'all-messages': allMessages },
    examples: ['waybill suppression import acc_… $(cat opted-out.txt)'],
    fields: ({ args: [, first], rest }) => ({ recipients: [first, ...rest] }),
    run: async ({ check, call }, { recipients, ...fields }) => {
      const parts = split(recipients as string[]).map((part) => ({ ...fields, recipients: part }))
      for (const part of parts) check(part)
      const total = { added: 0, alreadySuppressed: 0 }
      for (const part of parts) {
        const { added, alreadySuppressed } = await call(importSuppressions, part)
        total.added += added
        total.alreadySuppressed += alreadySuppressed
      }
      return total
    },
    text: ({ added, alreadySuppressed }) => formatAdded(added, alreadySuppressed),
  }),
  contractCommand(removeSuppression, {
    name: 'suppression remove',
    summary: 'Remove a recipient from the suppression list of an account',
    args: { ACC: 'accountId', RECIPIENT: 'to' },
    fields: ({ args: [, recipient] }) => moveUserId(recipient),
    notes: ['WhatsApp still rejects marketing messages to a recipient who stopped them in WhatsApp.'],
    examples: ['waybill suppression remove acc_… 34600111222'],
    text: ({ removed }, { RECIPIENT }) =>
      removed ? `Removed ${RECIPIENT}.` : `${RECIPIENT} was not on the suppression list.`,
  }),
  contractCommand(setSuppressedCategories, {
    name: 'suppression categories',
    summary: 'Set the template categories blocked for suppressed recipients; MARKETING is always blocked',
    args: { ACC: 'accountId' },
    rest: { placeholder: 'CATEGORY', field: 'categories' },
    examples: ['waybill suppression categories acc_… MARKETING UTILITY', 'waybill suppression categories acc_…'],
    rejectedWith: 1,
    text: ({ categories }) => `Blocked for suppressed recipients: ${categories.join(', ')} templates.`,
  }),
]

/** The parts that the procedure accepts. */
function split(recipients: string[]): string[][] {
  return Array.from({ length: Math.ceil(recipients.length / maxImportedRecipients) }, (_, index) =>
    recipients.slice(index * maxImportedRecipients, (index + 1) * maxImportedRecipients),
  )
}

interface ListedSuppressions {
  items: UserSuppression[]
  categories: string[]
  nextCursor?: string | undefined
}

function formatList({ items, categories, nextCursor }: ListedSuppressions): string {
  const setting = `Blocked for suppressed recipients: ${categories.join(', ')} templates.`
  if (items.length === 0) return `No recipients. ${setting}`
  const table = formatTable(
    ['RECIPIENT', 'STOPPED', 'REASON', 'SINCE', 'ADDED BY', 'WHATSAPP ACCOUNT'],
    items.map(({ to, allMessages, reason, since, addedBy, accountId }) => [
      to,
      allMessages ? 'all messages' : 'by category',
      reason,
      since,
      addedBy ?? '',
      accountId ?? '',
    ]),
  )
  const more = nextCursor === undefined ? [] : [`More: --cursor ${nextCursor}`]
  return [table, setting, ...more].join('\n')
}

function formatAdded(added: number, already: number): string {
  return `Added ${added} to the suppression list${already === 0 ? '' : `; ${already} were already on it`}.`
}
