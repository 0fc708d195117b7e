import { type Message, type MessagePage, messageStatuses } from '../../../contracts/api/message.ts'
import { resolveMessage } from '../../../contracts/dashboard/message.ts'
import { getMessage, listMessages } from '../../../contracts/command-line/account-resources.ts'
import { contractCommand } from '../contract-command.ts'
import { formatPairs, formatTable } from '../help.ts'

export const messageCommands = [
  contractCommand(getMessage, {
    name: 'message get',
    summary: 'Show a message with its status, from any account',
    args: { MSG: 'messageId' },
    examples: ['waybill message get msg_…', 'waybill message get msg_… --json'],
    text: describeMessage,
  }),
  contractCommand(listMessages, {
    name: 'message list',
    summary: 'List the messages of an account, newest first, a page at a time',
    args: { ACC: 'accountId' },
    options: {
      'external-id': { value: 'REF', help: 'Only messages with this external ID' },
      to: { value: 'NUMBER', help: 'Only messages to this recipient' },
      template: { value: 'NAME', help: 'Only messages of this template' },
      status: { value: 'STATUS', help: `Only messages with this status: ${messageStatuses.join(', ')}` },
      'error-code': {
        value: 'CODE',
        help: 'Only messages that failed with this code, such as 131026; UNKNOWN: WhatsApp gave none',
      },
      from: { value: 'TIME', help: 'Only messages recorded at or after this time, such as 2026-11-20T09:30:00Z' },
      until: { value: 'TIME', help: 'Only messages recorded before this time' },
      cursor: { value: 'CURSOR', help: 'nextCursor of the previous page' },
      limit: { value: 'N', help: 'Messages per page, 1 to 100 (default 20)' },
    },
    examples: ['waybill message list acc_… --status failed', 'waybill message list acc_… --limit 100 --json'],
    text: formatMessages,
  }),
  contractCommand(resolveMessage, {
    name: 'message resolve',
    summary: 'Record the outcome of a message whose outcome is unknown',
    args: { MSG: 'messageId' },
    options: {
      as: {
        value: 'failed|sent',
        help: 'failed: it was not sent, and a retry with its Idempotency-Key sends it; sent: it was sent, and a retry returns it',
      },
    },
    notes: [
      'Only for messages that have been pending for more than a minute. Ask the recipient or check WhatsApp Manager\nfirst: if a sent message is recorded as failed, a retry sends it twice. Emits message.failed or message.sent. A status\nthat WhatsApp reports later still applies.',
    ],
    examples: ['waybill message resolve msg_… --as failed', 'waybill message resolve msg_… --as sent'],
    run: async ({ call }, fields) => {
      const { messageId } = await call(resolveMessage, fields)
      return call(getMessage, { messageId })
    },
    text: describeMessage,
  }),
]

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

function formatMessages({ items: messages, nextCursor }: MessagePage): string {
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
