import {
  type AlertRules,
  type AlertSettings,
  type ChatFormat,
  chatFormats,
  nameAlertRules,
  type QuietHours,
  updateAlertRules as updateContract,
} from '../../../contracts/dashboard/alert.ts'
import { changes } from '../../../contracts/changes.ts'
import { requireAccount } from '../../accounts/account.ts'
import { removeChat, setChat, testChat } from '../../webhooks/alerts/chat/chat.ts'
import { acknowledgeAlert, listAlerts } from '../../webhooks/alerts/alerts.ts'
import { type AlertRulesUpdate, getAlertSettings, updateAlertRules } from '../../webhooks/alerts/rules/settings.ts'
import { dataCommand } from '../command.ts'
import { UsageError } from '../failure.ts'
import { formatTable } from '../help.ts'
import { parseDuration } from '../syntax.ts'

export const alertShow = dataCommand({
  name: 'alert show',
  summary: 'Show how the members of an account receive alerts',
  args: ['ACC'],
  options: {},
  examples: ['waybill alert show acc_…', 'waybill alert show acc_… --json'],
  run: async (deps, { args: [accountId] }) => {
    await requireAccount(deps.db, accountId)
    const json = await getAlertSettings(deps, accountId)
    return { json, text: formatSettings(json) }
  },
})

function formatSettings({ chat, emails, ...rules }: AlertSettings): string {
  const lines = [
    emails ? 'Email: to every member' : 'Email: this server sends none (SMTP_URL)',
    chat ? `Chat: ${chat.host}, in the format of ${formatNames[chat.format]}` : 'Chat: none',
    ...formatRules(rules),
    ...(chat?.problem === undefined ? [] : [`The last post failed at ${chat.problemAt ?? '?'}: ${chat.problem}`]),
  ]
  return lines.join('\n')
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

export const alertUpdate = dataCommand({
  name: 'alert update',
  summary: 'Change thresholds, quiet hours and repetition of the alerts of an account',
  args: ['ACC'],
  options: {
    'failure-rate': {
      value: 'PERCENT',
      help: 'Alert when the failure rate of the last hour exceeds this percentage (1–100); off disables it',
    },
    'min-messages': {
      value: 'COUNT',
      help: 'Compare the failure rate only if the last hour has at least this many messages (1–10000)',
    },
    'delivery-lag': {
      value: 'TIME',
      help: 'Alert when webhook deliveries are later than this, such as 5m; off disables it',
    },
    'missing-statuses': {
      value: 'COUNT',
      help: 'Alert when no status has arrived for at least this many messages of the last hour (1–10000); off disables it',
    },
    'quiet-hours': {
      value: 'FROM-UNTIL',
      help: 'Hold alerts until these hours end, such as 22:00-07:00; off disables it',
    },
    'time-zone': { value: 'ZONE', help: 'Time zone of the quiet hours, such as Europe/Madrid (default UTC)' },
    'except-critical': { help: 'Also send critical alerts during quiet hours' },
    repeat: { value: 'HOURS', help: 'Repeat unacknowledged alerts every N hours (1–168); off disables it' },
  },
  examples: [
    'waybill alert update acc_… --failure-rate 10 --delivery-lag 10m',
    'waybill alert update acc_… --quiet-hours 22:00-07:00 --time-zone Europe/Madrid --except-critical',
    'waybill alert update acc_… --quiet-hours off --repeat 4',
  ],
  audit: ({ options }) => changes.updateAlertRules(nameAlertRules(readRules(options))),
  run: async (deps, { args: [accountId], options }) => {
    const parsed = updateContract.input.safeParse({ accountId, ...readRules(options) })
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      throw new UsageError(`--${optionOf(issue?.path ?? [])} ${issue?.message}.`)
    }
    const { accountId: _, ...rules } = parsed.data
    const json = await updateAlertRules(deps, accountId, rules)
    return { json, text: formatSettings(json) }
  },
})

const optionNames = {
  failureRatePercent: 'failure-rate',
  failureRateMinMessages: 'min-messages',
  deliveryLagSeconds: 'delivery-lag',
  noStatusMinMessages: 'missing-statuses',
  repeatHours: 'repeat',
} satisfies Record<Exclude<keyof AlertRules, 'quietHours'>, string>

function optionOf([rule, part]: PropertyKey[]): string {
  if (rule === 'quietHours') return part === 'timeZone' ? 'time-zone' : 'quiet-hours'
  return optionNames[rule as Exclude<keyof AlertRules, 'quietHours'>]
}

type RuleOptions = Partial<
  Record<
    'failure-rate' | 'min-messages' | 'delivery-lag' | 'missing-statuses' | 'quiet-hours' | 'time-zone' | 'repeat',
    string | undefined
  > & {
    'except-critical': boolean | undefined
  }
>

function readRules(options: RuleOptions): AlertRulesUpdate {
  const { 'failure-rate': rate, 'min-messages': minimum, 'delivery-lag': lag, 'quiet-hours': hours, repeat } = options
  const missing = options['missing-statuses']
  if (hours === undefined && (options['time-zone'] !== undefined || options['except-critical'] === true))
    throw new UsageError('--time-zone and --except-critical need --quiet-hours.')
  return {
    ...(rate !== undefined && { failureRatePercent: orOff(rate, Number) }),
    ...(minimum !== undefined && { failureRateMinMessages: Number(minimum) }),
    ...(lag !== undefined && { deliveryLagSeconds: orOff(lag, (text) => parseDuration('delivery-lag', text)) }),
    ...(missing !== undefined && { noStatusMinMessages: orOff(missing, Number) }),
    ...(hours !== undefined && { quietHours: orOff(hours, (text) => readQuietHours(text, options)) }),
    ...(repeat !== undefined && { repeatHours: orOff(repeat, Number) }),
  }
}

function orOff<Value>(text: string, read: (text: string) => Value): Value | null {
  return text === 'off' ? null : read(text)
}

function readQuietHours(text: string, options: RuleOptions): QuietHours {
  const [from = '', until = ''] = text.split('-')
  const timeZone = options['time-zone'] ?? 'UTC'
  return { from, until, timeZone, exceptCritical: options['except-critical'] === true }
}

export const alertList = dataCommand({
  name: 'alert list',
  summary: 'List the open alerts of an account, then those that were resolved in the last 30 days',
  args: ['ACC'],
  options: {},
  examples: ['waybill alert list acc_…'],
  run: async (deps, { args: [accountId] }) => {
    await requireAccount(deps.db, accountId)
    const items = await listAlerts(deps.db, accountId)
    const table = formatTable(
      ['ALERT', 'SINCE', 'STATE', 'TITLE'],
      items.map(({ alertId, openedAt, acknowledgedBy, recoveredAt, severity, title }) => [
        alertId,
        openedAt,
        recoveredAt !== undefined
          ? 'resolved'
          : acknowledgedBy === undefined
            ? severity
            : `acknowledged by ${acknowledgedBy}`,
        title,
      ]),
    )
    return { json: { items }, text: items.length === 0 ? 'No alerts.' : table }
  },
})

export const alertAcknowledge = dataCommand({
  name: 'alert acknowledge',
  summary: 'Acknowledge an alert: no further notifications are sent for it until it is resolved',
  args: ['ACC', 'ALERT'],
  options: {},
  examples: ['waybill alert acknowledge acc_… alr_…'],
  audit: ({ args: [, alertId] }) => changes.acknowledgeAlert(alertId),
  run: async (deps, { args: [accountId, alertId] }) => {
    const json = await acknowledgeAlert(deps, { accountId, alertId, by: 'operator' })
    return { json, text: `${alertId} is acknowledged.` }
  },
})

const formatNames = { slack: 'Slack', teams: 'Teams' } satisfies Record<ChatFormat, string>

export const alertSetChat = dataCommand({
  name: 'alert set-chat',
  summary: 'Post the alerts of an account to a chat in Slack or Teams',
  args: ['ACC'],
  options: {
    url: {
      value: 'URL',
      help: 'Webhook URL of the chat: https with a public host; - reads it from standard input',
      required: true,
      secret: true,
    },
    format: {
      value: 'FORMAT',
      help: `Format of the messages: ${chatFormats.join(' or ')}; by default, that of the host`,
      choices: chatFormats,
    },
  },
  notes: [
    'Slack: create an incoming webhook for the channel. Teams: open Workflows and create the workflow "Send webhook\nalerts to a channel". Both show a URL. Whoever has it can post to the chat, so it is stored encrypted.',
  ],
  examples: [
    'waybill alert set-chat acc_… --url - < chat-url.txt',
    'waybill alert set-chat acc_… --url - --format slack',
  ],
  audit: changes.setAlertChat,
  run: async (deps, { args: [accountId], options: { url, format } }) => {
    const json = await setChat(deps, accountId, { url, format: chatFormats.find((known) => known === format) })
    return { json, text: `Alerts are posted to ${json.host}.\nTo post a test message: waybill alert test ${accountId}` }
  },
})

export const alertRemoveChat = dataCommand({
  name: 'alert remove-chat',
  summary: 'Stop posting the alerts of an account to a chat',
  args: ['ACC'],
  options: {},
  examples: ['waybill alert remove-chat acc_…'],
  audit: changes.removeAlertChat,
  run: async (deps, { args: [accountId] }) => {
    await requireAccount(deps.db, accountId)
    const json = await removeChat(deps.db, accountId)
    return { json, text: json.removed ? 'Alerts are no longer posted to a chat.' : 'This account posts to no chat.' }
  },
})

export const alertTest = dataCommand({
  name: 'alert test',
  summary: 'Post a test message to the chat of an account',
  args: ['ACC'],
  options: {},
  notes: ['The exit code is 1 if the message was not posted.'],
  examples: ['waybill alert test acc_…'],
  audit: changes.testAlertChat,
  run: async (deps, { args: [accountId] }) => {
    await requireAccount(deps.db, accountId)
    const json = await testChat(deps, accountId)
    const text = json.posted ? 'The test message was posted.' : `The test message was not posted: ${json.error}.`
    return { json, text, exitCode: json.posted ? 0 : 1 }
  },
})
