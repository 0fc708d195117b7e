import type { MarketingSetting } from '../../../contracts/api/account.ts'
import {
  activateWhatsAppAccount,
  deactivateWhatsAppAccount,
  listWhatsAppAccounts,
  removeWhatsAppAccount,
  replaceSecrets,
  setDefaultWhatsAppAccount,
  setMarketing,
  setMessagingAccount,
  type UpdatedWhatsAppAccount,
  type WhatsAppAccount,
} from '../../../contracts/dashboard/whatsapp-account.ts'
import { addWhatsAppAccount } from '../../../contracts/command-line/account-resources.ts'
import { callbackUrlOf } from '../../whatsapp-accounts/connect/subscribe.ts'
import { contractCommand } from '../contract-command.ts'
import { formatTable } from '../help.ts'
import { waybill } from '../failure.ts'

export const whatsappCommands = [
  contractCommand(addWhatsAppAccount, {
    name: 'whatsapp add',
    summary: 'Add a WhatsApp account: a business phone number to send from',
    args: { ACC: 'accountId' },
    options: {
      'phone-number-id': { value: 'ID', help: "Meta's phone number ID" },
      'waba-id': { value: 'ID', help: "Meta's ID of its WhatsApp Business Account" },
      'access-token': {
        value: 'T',
        help: 'Access token of a system user; - reads it from standard input',
        secret: true,
      },
      'app-secret': {
        value: 'S',
        help: 'App secret of its Meta app, if it differs from META_APP_SECRET; - reads it from standard input',
        secret: true,
      },
      default: {
        help: 'Use it for requests that do not set accountId; the first one becomes the default automatically',
        field: 'makeDefault',
      },
      unverified: { help: 'Store it without verifying the token with WhatsApp' },
    },
    notes: [
      'A secret on the command line stays in the history of your shell. With - each secret is read from standard\ninput instead: first the access token, then the app secret on the next line. Both are stored encrypted.',
      'An app with its own secret needs its own callback URL: https://<your host>/webhooks/whatsapp/<WA>,\nwith the ID that this command prints.',
      'The command verifies with WhatsApp that the token can use the number and that the number belongs to the WABA;\notherwise it stores nothing. Use --unverified to skip this check, for example while WhatsApp cannot be reached.\nMake sure then that the IDs are yours.',
    ],
    examples: [
      'waybill whatsapp add acc_… --phone-number-id 106540352242922 --waba-id 102290129340398 --access-token - < token.txt',
      'cat token.txt app-secret.txt | waybill whatsapp add acc_… --phone-number-id 106540352242922 \\\n    --waba-id 102290129340398 --access-token - --app-secret -',
    ],
    rejectedWith: 1,
    text: (added, { ACC }, { deps, line }) => {
      const { whatsAppAccountId: id } = added
      const hasOwnApp = line.options['app-secret'] !== undefined
      const address = hasOwnApp ? `\nCallback URL for its app: ${callbackUrlOf(deps, id, { hasOwnApp })}` : ''
      return `Added ${id}. Next: sync its templates with ${waybill} template sync ${ACC}${address}${describeSubscription(added)}`
    },
  }),
  contractCommand(replaceSecrets, {
    name: 'whatsapp update',
    summary: 'Replace the access token, the app secret or the WABA of a WhatsApp account; its IDs stay',
    args: { WA: 'whatsAppAccountId' },
    options: {
      'access-token': { value: 'T', help: 'New access token; - reads it from standard input', secret: true },
      'app-secret': {
        value: 'S',
        help: 'New app secret of its Meta app; - reads it from standard input',
        secret: true,
      },
      'waba-id': { value: 'ID', help: 'ID of the WhatsApp Business Account that the number belongs to now' },
    },
    notes: [
      'A new token or WABA is verified with WhatsApp first; if WhatsApp does not accept it for this number, nothing\nchanges. An account that WhatsApp had rejected becomes active again.',
      'With - each secret is read from standard input: first the access token, then the app secret on the next line.',
    ],
    examples: [
      'waybill whatsapp update wa_… --access-token - < token.txt',
      'waybill whatsapp update wa_… --app-secret - < app-secret.txt',
    ],
    rejectedWith: 1,
    text: (updated, { WA }) => {
      const inactive = updated.active ? '' : ` It is inactive: ${updated.reason}`
      return `${WA} is updated.${inactive}${updated.subscribed === false ? describeSubscription(updated) : ''}`
    },
  }),
  contractCommand(listWhatsAppAccounts, {
    name: 'whatsapp list',
    summary: 'List the WhatsApp accounts of an account, oldest first',
    args: { ACC: 'accountId' },
    examples: ['waybill whatsapp list acc_…', 'waybill whatsapp list acc_… --json'],
    text: ({ items }, { ACC }) => formatWhatsAppAccounts(ACC, items),
  }),
  contractCommand(activateWhatsAppAccount, {
    name: 'whatsapp activate',
    summary: 'Activate a WhatsApp account',
    args: { WA: 'whatsAppAccountId' },
    notes: ['If WhatsApp rejected its token and nothing has changed since, WhatsApp rejects it again.'],
    examples: ['waybill whatsapp activate wa_…'],
    text: (_output, { WA }) => `${WA} is active.`,
  }),
  contractCommand(deactivateWhatsAppAccount, {
    name: 'whatsapp deactivate',
    summary: 'Deactivate a WhatsApp account, so that it no longer sends',
    args: { WA: 'whatsAppAccountId' },
    notes: ['A default account stays the default: requests that do not set accountId are then rejected.'],
    examples: ['waybill whatsapp deactivate wa_…'],
    text: ({ isDefault }, { WA }) => {
      const warning = ' It is still the default: requests that do not set accountId are rejected.'
      return `${WA} is deactivated.${isDefault ? warning : ''}`
    },
  }),
  contractCommand(setDefaultWhatsAppAccount, {
    name: 'whatsapp set-default',
    summary: 'Make a WhatsApp account the default for requests that do not set accountId',
    args: { WA: 'whatsAppAccountId' },
    examples: ['waybill whatsapp set-default wa_…'],
    text: (_output, { WA }) => `${WA} is now the default of its account.`,
  }),
  contractCommand(setMarketing, {
    name: 'whatsapp set-marketing',
    summary: 'Set which endpoint of WhatsApp marketing templates are sent to',
    args: { WA: 'whatsAppAccountId' },
    options: {
      endpoint: {
        value: 'S',
        help: 'automatic: the endpoint that WhatsApp asks for; cloud_api: always /messages',
        field: 'setting',
      },
    },
    notes: [
      'With automatic, which is the default, templates of the category MARKETING go to /marketing_messages as soon as the\nbusiness account is onboarded to the Marketing Messages API. Use cloud_api for a provider without this endpoint.',
    ],
    examples: ['waybill whatsapp set-marketing wa_… --endpoint cloud_api'],
    text: ({ marketingSetting }, { WA }) => `${WA}: ${describeMarketingSetting(marketingSetting)}`,
  }),
  contractCommand(setMessagingAccount, {
    name: 'whatsapp set-messaging-account',
    summary: 'Set whether sends name the messaging account that pays',
    args: { WA: 'whatsAppAccountId' },
    options: { id: { value: 'S', help: 'send: the ID of its WABA; omit: none', field: 'setting' } },
    notes: [
      'Use send if the access token reaches several messaging accounts (WABAs) on the number: otherwise WhatsApp decides\nwhich of them pays. With omit, which is the default, WhatsApp decides.',
    ],
    examples: ['waybill whatsapp set-messaging-account wa_… --id send'],
    text: ({ messagingAccountSetting, wabaId }, { WA }) =>
      messagingAccountSetting === 'send'
        ? `${WA}: sends name the messaging account ${wabaId}, which pays.`
        : `${WA}: sends name no messaging account.`,
  }),
  contractCommand(removeWhatsAppAccount, {
    name: 'whatsapp remove',
    summary: 'Remove a WhatsApp account and its secrets; its messages stay',
    args: { WA: 'whatsAppAccountId' },
    notes: ['The default account can only be removed if it is the last one. Make another one the default first.'],
    examples: ['waybill whatsapp remove wa_…'],
    json: (_output, { WA }) => ({ whatsAppAccountId: WA }),
    text: (_output, { WA }) => `${WA} is removed.`,
  }),
]

function describeSubscription({
  subscribed,
  subscriptionProblem,
}: Pick<UpdatedWhatsAppAccount, 'subscribed' | 'subscriptionProblem'>): string {
  if (subscribed) return '\nIts app is subscribed to the WABA.'
  return `\nIts app could not be subscribed to the WABA, so no status will arrive: ${subscriptionProblem}`
}

function describeMarketingSetting(setting: MarketingSetting): string {
  return setting === 'cloud_api'
    ? 'marketing templates are always sent to /messages.'
    : 'marketing templates are sent to the endpoint that WhatsApp asks for.'
}

function formatWhatsAppAccounts(accountId: string, items: WhatsAppAccount[]): string {
  if (items.length === 0)
    return `${accountId} has no WhatsApp accounts. To add one, see: ${waybill} whatsapp add --help`
  return formatTable(
    ['WHATSAPP ACCOUNT', 'PHONE NUMBER ID', 'WABA ID', 'DEFAULT', 'STATE'],
    items.map((item) => [
      item.whatsAppAccountId,
      item.phoneNumberId,
      item.wabaId,
      item.isDefault ? 'default' : '',
      item.active ? 'active' : `inactive: ${item.reason ?? 'reason unknown'}`,
    ]),
  )
}
