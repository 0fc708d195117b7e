import { ServiceError } from '../../../contracts/errors.ts'
import { listMessages as listContract, type Message, messageStatuses } from '../../../contracts/api/message.ts'
import { changes } from '../../../contracts/changes.ts'
import { requireAccount } from '../../accounts/account.ts'
import { type Resolution, resolutions, resolveMessage } from '../../messages/status/outcome-unknown.ts'
import { getMessage } from '../../messages/queries/get.ts'
import { listMessages } from '../../messages/queries/list.ts'
import { dataCommand } from '../command.ts'
import { parseOptions } from '../parse-options.ts'
import { formatPairs, formatTable } from '../help.ts'
import { findAccountOfMessage } from '../operator-store.ts'

export const messageGet = dataCommand({
  name: 'message get',
  summary: 'Show a message with its status, from any account',
  args: ['MSG'],
  options: {},
  examples: ['waybill message get msg_…', 'waybill message get msg_… --json'],
  run: async (deps, { args: [messageId] }) => {
    const accountId = await findAccountOfMessage(deps.db, messageId)
    if (accountId === undefined)
      throw new ServiceError('SETTING_REFUSED', `There is no message ${JSON.stringify(messageId)}.`)
    const message = await getMessage(deps, { accountId }, { messageId })
    return { json: message, text: describeMessage(message) }
  },
})

export const messageList = dataCommand({
  name: 'message list',
  summary: 'List the messages of an account, newest first, a page at a time',
  args: ['ACC'],
  options: {
    'external-id': { value: 'REF', help: 'Only messages with this external ID' },
    to: { value: 'NUMBER', help: 'Only messages to this recipient' },
    template: { value: 'NAME', help: 'Only messages of this template' },
    status: {
      value: 'STATUS',
      help: `Only messages with this status: ${messageStatuses.join(', ')}`,
      choices: messageStatuses,
    },
    'error-code': {
      value: 'CODE',
      help: 'Only messages that failed with this code, such as 131026; UNKNOWN: WhatsApp gave none',
    },
    from: { value: 'TIME', help: 'Only messages recorded at or after this time, such as 2026-11-20T09:30:00Z' },
    until: { value: 'TIME', help: 'Only messages recorded before this time' },
    cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
    limit: { value: 'N', help: 'Messages per page, 1 to 100 (default 20)', number: true },
  },
  examples: ['waybill message list acc_… --status failed', 'waybill message list acc_… --limit 100 --json'],
  run: async (deps, { args: [accountId], options }) => {
    await requireAccount(deps.db, accountId)
    const page = await listMessages(deps, { accountId }, parseFilter(options))
    return { json: page, text: formatMessages(page.items, page.nextCursor) }
  },
})

export const messageResolve = dataCommand({
  name: 'message resolve',
  summary: 'Record the outcome of a message whose outcome is unknown',
  args: ['MSG'],
  options: {
    as: {
      value: 'failed|sent',
      help: 'failed: it was not sent, and a retry with its Idempotency-Key sends it; sent: it was sent, and a retry returns it',
      required: true,
      choices: resolutions,
    },
  },
  notes: [
    'Only for messages that have been pending for more than a minute. Ask the recipient or check WhatsApp Manager\nfirst: if a sent message is recorded as failed, a retry sends it twice. No webhook reports the change. A status that\nWhatsApp reports later still applies.',
  ],
  examples: ['waybill message resolve msg_… --as failed', 'waybill message resolve msg_… --as sent'],
  audit: ({ args: [messageId], options: { as } }) => changes.resolveMessage(messageId, as),
  run: async (deps, { args: [messageId], options: { as } }) => {
    const accountId = await findAccountOfMessage(deps.db, messageId)
    if (accountId === undefined)
      throw new ServiceError('SETTING_REFUSED', `There is no message ${JSON.stringify(messageId)}.`)
    // One of the choices above, checked by the syntax.
    await resolveMessage(deps, { accountId, messageId }, as as Resolution)
    const message = await getMessage(deps, { accountId }, { messageId })
    return { json: message, text: describeMessage(message) }
  },
})

/** Validates with the contract's rules, under the names of the options. */
function parseFilter({
  limit,
  'external-id': externalId,
  'error-code': errorCode,
  ...rest
}: Record<string, string | undefined>) {
  const input = { ...rest, externalId, errorCode, limit: limit === undefined ? undefined : Number(limit) }
  return parseOptions(listContract.input, input)
}

function describeMessage(message: Message): string {
  return formatPairs([
    ['Message', message.messageId],
    ['Status', message.status],
    ['To', message.to],
    ['Template', `${message.template} (${message.language})`],
    ['Sent from', message.accountId],
    ['Reference', message.externalId],
    ['WhatsApp ID', message.waMessageId],
    ['Recorded', message.createdAt],
    ['Sent', message.sentAt],
    ['Delivered', message.deliveredAt],
    ['Read', message.readAt],
    ['Failed', message.failedAt],
    ['Error', message.error && `${message.error.code}: ${message.error.message}`],
  ])
}

function formatMessages(messages: Message[], nextCursor: string | undefined): string {
  const more = nextCursor === undefined ? '' : `\n\nMore: --cursor ${nextCursor}`
  if (messages.length === 0)
    return nextCursor === undefined ? 'No messages.' : `No matches among the newest messages.${more}`
  const table = formatTable(
    ['MESSAGE', 'STATUS', 'ERROR', 'TO', 'TEMPLATE', 'REFERENCE', 'RECORDED'],
    messages.map((message) => [
      message.messageId,
      message.status,
      message.error?.code ?? '',
      message.to,
      `${message.template} (${message.language})`,
      message.externalId ?? '',
      message.createdAt,
    ]),
  )
  return table + more
}
