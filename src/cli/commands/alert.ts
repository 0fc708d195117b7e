import { type AlertSettings, type ChatFormat, chatFormats } from '../../../contracts/dashboard/alert.ts'
import { changes } from '../../../contracts/dashboard/changes.ts'
import { requireAccount } from '../../accounts/account.ts'
import { removeChat, setChat, testChat } from '../../webhooks/alerts/chat/chat.ts'
import { getAlertSettings } from '../../webhooks/alerts/settings.ts'
import { dataCommand } from '../command.ts'

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

function formatSettings({ chat, emails }: AlertSettings): string {
  const lines = [
    emails ? 'E-mail: to every member' : 'E-mail: this server sends none (SMTP_URL)',
    chat ? `Chat: ${chat.host}, in the format of ${formatNames[chat.format]}` : 'Chat: none',
    ...(chat?.problem === undefined ? [] : [`The last post failed at ${chat.problemAt ?? '?'}: ${chat.problem}`]),
  ]
  return lines.join('\n')
}

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
