import {
  acknowledgeAlert,
  type Alert,
  type AlertRules,
  type AlertSettings,
  type ChatFormat,
  chatFormats,
  getAlertSettings,
  listAlerts,
  removeChat,
  setChat,
  testChat,
  updateAlertRules,
} from '../../../contracts/dashboard/alert.ts'
import { contractCommand } from '../contract-command.ts'
import { UsageError, waybill } from '../failure.ts'
import { formatTable } from '../help.ts'
import { type Line, readDuration } from '../syntax.ts'

const off = 'off'

export const alertCommands = [
  contractCommand(getAlertSettings, {
    name: 'alert show',
    summary: 'Show how the members of an account receive alerts',
    args: { ACC: 'accountId' },
    examples: ['waybill alert show acc_…', 'waybill alert show acc_… --json'],
    text: formatSettings,
  }),
  contractCommand(updateAlertRules, {
    name: 'alert update',
    summary: 'Change thresholds, quiet hours and repetition of the alerts of an account',
    args: { ACC: 'accountId' },
    options: {
      'failure-rate': {
        value: 'PERCENT',
        help: 'Alert when the failure rate of the last hour exceeds this percentage (1–100); off disables it',
        field: 'failureRatePercent',
        off,
      },
      'min-messages': {
        value: 'COUNT',
        help: 'Compare the failure rate only if the last hour has at least this many messages (1–10000)',
        field: 'failureRateMinMessages',
      },
      'delivery-lag': {
        value: 'TIME',
        help: 'Alert when webhook deliveries are later than this, such as 5m; off disables it',
        field: 'deliveryLagSeconds',
        off,
        read: (text) => readDuration('delivery-lag', text),
      },
      'missing-statuses': {
        value: 'COUNT',
        help: 'Alert when no status has arrived for at least this many messages of the last hour (1–10000); off disables it',
        field: 'noStatusMinMessages',
        off,
      },
      'quiet-hours': {
        value: 'FROM-UNTIL',
        help: 'Hold alerts until these hours end, such as 22:00-07:00; off disables it',
        off,
      },
      'time-zone': {
        value: 'ZONE',
        help: 'Time zone of the quiet hours, such as Europe/Madrid (default UTC)',
        field: null,
      },
      'except-critical': { help: 'Also send critical alerts during quiet hours', field: null },
      repeat: {
        value: 'HOURS',
        help: 'Repeat unacknowledged alerts every N hours (1–168); off disables it',
        field: 'repeatHours',
        off,
      },
    },
    examples: [
      'waybill alert update acc_… --failure-rate 10 --delivery-lag 10m',
      'waybill alert update acc_… --quiet-hours 22:00-07:00 --time-zone Europe/Madrid --except-critical',
      'waybill alert update acc_… --quiet-hours off --repeat 4',
    ],
    fields: readQuietHours,
    text: formatSettings,
  }),
  contractCommand(listAlerts, {
    name: 'alert list',
    summary: 'List the open alerts of an account, then those that were resolved in the last 30 days',
    args: { ACC: 'accountId' },
    examples: ['waybill alert list acc_…'],
    text: ({ items }) => formatAlerts(items),
  }),
  contractCommand(acknowledgeAlert, {
    name: 'alert acknowledge',
    summary: 'Acknowledge an alert: no further notifications are sent for it until it is resolved',
    args: { ACC: 'accountId', ALERT: 'alertId' },
    examples: ['waybill alert acknowledge acc_… alr_…'],
    text: (_output, { ALERT }) => `${ALERT} is acknowledged.`,
  }),
  contractCommand(setChat, {
    name: 'alert set-chat',
    summary: 'Post the alerts of an account to a chat in Slack or Teams',
    args: { ACC: 'accountId' },
    options: {
      url: {
        value: 'URL',
        help: 'Webhook URL of the chat: https with a public host; - reads it from standard input',
        secret: true,
      },
      format: {
        value: 'FORMAT',
        help: `Format of the messages: ${chatFormats.join(' or ')}; by default, that of the host`,
      },
    },
    notes: [
      'Slack: create an incoming webhook for the channel. Teams: open Workflows and create the workflow "Send webhook\nalerts to a channel". Both show a URL. Whoever has it can post to the chat, so it is stored encrypted.',
    ],
    examples: [
      'waybill alert set-chat acc_… --url - < chat-url.txt',
      'waybill alert set-chat acc_… --url - --format slack',
    ],
    rejectedWith: 1,
    text: ({ host }, { ACC }) => `Alerts are posted to ${host}.\nTo post a test message: ${waybill} alert test ${ACC}`,
  }),
  contractCommand(removeChat, {
    name: 'alert remove-chat',
    summary: 'Stop posting the alerts of an account to a chat',
    args: { ACC: 'accountId' },
    examples: ['waybill alert remove-chat acc_…'],
    text: ({ removed }) => (removed ? 'Alerts are no longer posted to a chat.' : 'This account posts to no chat.'),
  }),
  contractCommand(testChat, {
    name: 'alert test',
    summary: 'Post a test message to the chat of an account',
    args: { ACC: 'accountId' },
    notes: ['The exit code is 1 if the message was not posted.'],
    examples: ['waybill alert test acc_…'],
    text: ({ posted, error }) =>
      posted ? 'The test message was posted.' : `The test message was not posted: ${error}.`,
    exitCode: ({ posted }) => (posted ? 0 : 1),
  }),
]

/** The field that is made of three options. */
function readQuietHours({ options }: Line): object {
  const { 'quiet-hours': hours, 'time-zone': timeZone, 'except-critical': exceptCritical } = options
  if (hours === undefined && (timeZone !== undefined || exceptCritical !== undefined))
    throw new UsageError('--time-zone and --except-critical need --quiet-hours.')
  if (hours === undefined || hours === off) return {}
  const [from = '', until = ''] = String(hours).split('-')
  return { quietHours: { from, until, timeZone: timeZone ?? 'UTC', exceptCritical: exceptCritical === true } }
}

const formatNames = { slack: 'Slack', teams: 'Teams' } satisfies Record<ChatFormat, string>

function formatSettings({ chat, emails, ...rules }: AlertSettings): string {
  const lines = [
    emails ? 'Email: to every member' : 'Email: this server sends none (SMTP_URL)',
    chat ? `Chat: ${chat.host}, in the format of ${formatNames[chat.format]}` : 'Chat: none',
    ...formatRules(rules),
    ...(chat?.problem === undefined ? [] : [describeProblem(chat.problem, chat.problemAt)]),
  ]
  return lines.join('\n')
}

/** Without a time, nothing was posted: the URL cannot be read. */
function describeProblem(problem: string, at: string | undefined): string {
  return at === undefined ? problem : `The last post failed at ${at}: ${problem}`
}

function formatRules({
  failureRatePercent,
  failureRateMinMessages,
  deliveryLagSeconds,
  noStatusMinMessages,
  quietHours,
  repeatHours,
}: AlertRules): string[] {
  const { from, until, timeZone, exceptCritical } = quietHours ?? {}
  return [
    `Failure rate: ${failureRatePercent === null ? 'no alert' : `more than ${failureRatePercent}% of an hour's messages, if there are at least ${failureRateMinMessages}`}`,
    `Delivery lag: ${deliveryLagSeconds === null ? 'no alert' : `more than ${deliveryLagSeconds} seconds`}`,
    `Missing statuses: ${noStatusMinMessages === null ? 'no alert' : `at least ${noStatusMinMessages} messages of the last hour without a status`}`,
    quietHours
      ? `Quiet hours: ${from} to ${until} (${timeZone}); critical alerts ${exceptCritical === true ? 'are sent at once' : 'wait too'}`
      : 'Quiet hours: none',
    `Repetition: ${repeatHours === null ? 'none' : `every ${repeatHours} hours until acknowledged`}`,
  ]
}

function formatAlerts(items: Alert[]): string {
  if (items.length === 0) return 'No alerts.'
  return formatTable(
    ['ALERT', 'SINCE', 'STATE', 'TITLE'],
    items.map((alert) => [alert.alertId, alert.openedAt, describeState(alert), alert.title]),
  )
}

function describeState({ acknowledgedBy, recoveredAt, severity }: Alert): string {
  if (recoveredAt !== undefined) return 'resolved'
  return acknowledgedBy === undefined ? severity : `acknowledged by ${acknowledgedBy}`
}
