import { type MarketingSetting, marketingSettings } from '../../../contracts/api/account.ts'
import { changes } from '../../../contracts/changes.ts'
import type { UpdatedWhatsAppAccount, WhatsAppAccount } from '../../../contracts/dashboard/whatsapp-account.ts'
import { addWhatsAppAccount } from '../../whatsapp-accounts/add.ts'
import {
  activateWhatsAppAccount,
  deactivateWhatsAppAccount,
  removeWhatsAppAccount,
  setDefaultWhatsAppAccount,
  setMarketing,
} from '../../whatsapp-accounts/change.ts'
import { callbackUrlOf } from '../../whatsapp-accounts/connect/subscribe.ts'
import { findAccountOfWhatsAppAccount } from '../../whatsapp-accounts/store.ts'
import { replaceSecrets } from '../../whatsapp-accounts/update.ts'
import { listWhatsAppAccounts, whatsAppAccountNotFound } from '../../whatsapp-accounts/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import { recordDisplacementIn } from '../../http/displacement.ts'
import { dataCommand } from '../command.ts'
import { formatTable } from '../help.ts'

export const whatsappAdd = dataCommand({
  name: 'whatsapp add',
  summary: 'Add a WhatsApp account: a business phone number to send from',
  args: ['ACC'],
  options: {
    'phone-number-id': { value: 'ID', help: "Meta's phone number ID", required: true },
    'waba-id': { value: 'ID', help: "Meta's ID of its WhatsApp Business Account", required: true },
    'access-token': {
      value: 'T',
      help: 'Access token of a system user; - reads it from standard input',
      required: true,
      secret: true,
    },
    'app-secret': {
      value: 'S',
      help: 'App secret of its Meta app, if it differs from META_APP_SECRET; - reads it from standard input',
      secret: true,
    },
    default: { help: 'Use it for requests that do not set accountId; the first one becomes the default automatically' },
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
  audit: ({ options }) => changes.addWhatsAppAccount(options['phone-number-id'], { unverified: options.unverified }),
  run: async (deps, { args: [accountId], options }) => {
    const input = {
      phoneNumberId: options['phone-number-id'],
      wabaId: options['waba-id'],
      accessToken: options['access-token'],
      appSecret: options['app-secret'],
      makeDefault: options.default,
      unverified: options.unverified,
    }
    const json = await addWhatsAppAccount(deps, accountId, input, recordDisplacementIn(deps))
    const address =
      options['app-secret'] === undefined
        ? ''
        : `\nCallback URL for its app: ${callbackUrlOf(deps, json.whatsAppAccountId, { hasOwnApp: true })}`
    return {
      json,
      text: `Added ${json.whatsAppAccountId}. Next: sync its templates with waybill template sync ${accountId}${address}${describeSubscription(json)}`,
    }
  },
})

function describeSubscription({
  subscribed,
  subscriptionProblem,
}: Pick<UpdatedWhatsAppAccount, 'subscribed' | 'subscriptionProblem'>): string {
  if (subscribed) return '\nIts app is subscribed to the WABA.'
  return `\nIts app could not be subscribed to the WABA, so no status will arrive: ${subscriptionProblem}`
}

export const whatsappUpdate = dataCommand({
  name: 'whatsapp update',
  summary: 'Replace the access token, the app secret or the WABA of a WhatsApp account; its IDs stay',
  args: ['WA'],
  options: {
    'access-token': { value: 'T', help: 'New access token; - reads it from standard input', secret: true },
    'app-secret': { value: 'S', help: 'New app secret of its Meta app; - reads it from standard input', secret: true },
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
  audit: ({ args: [id], options }) =>
    changes.updateWhatsAppAccount(id, [
      ...(options['access-token'] === undefined ? [] : ['access token']),
      ...(options['app-secret'] === undefined ? [] : ['app secret']),
      ...(options['waba-id'] === undefined ? [] : ['WABA']),
    ]),
  run: async (deps, { args: [id], options }) => {
    const json = await replaceSecrets(deps, await requireAccountId(deps, id), id, {
      accessToken: options['access-token'],
      appSecret: options['app-secret'],
      wabaId: options['waba-id'],
    })
    const inactive = json.active ? '' : ` It is inactive: ${json.reason}`
    return { json, text: `${id} is updated.${inactive}${json.subscribed === false ? describeSubscription(json) : ''}` }
  },
})

export const whatsappList = dataCommand({
  name: 'whatsapp list',
  summary: 'List the WhatsApp accounts of an account, oldest first',
  args: ['ACC'],
  options: {},
  examples: ['waybill whatsapp list acc_…', 'waybill whatsapp list acc_… --json'],
  run: async (deps, { args: [accountId] }) => {
    const items = await listWhatsAppAccounts(deps, accountId)
    return { json: { items }, text: formatWhatsAppAccounts(accountId, items) }
  },
})

export const whatsappActivate = dataCommand({
  name: 'whatsapp activate',
  summary: 'Activate a WhatsApp account',
  args: ['WA'],
  options: {},
  notes: ['If WhatsApp rejected its token and nothing has changed since, WhatsApp rejects it again.'],
  examples: ['waybill whatsapp activate wa_…'],
  audit: ({ args: [id] }) => changes.activate(id),
  run: async (deps, { args: [id] }) => {
    const json = await activateWhatsAppAccount(deps, await requireAccountId(deps, id), id)
    return { json, text: `${id} is active.` }
  },
})

export const whatsappDeactivate = dataCommand({
  name: 'whatsapp deactivate',
  summary: 'Deactivate a WhatsApp account, so that it no longer sends',
  args: ['WA'],
  options: {},
  notes: ['A default account stays the default: requests that do not set accountId are then rejected.'],
  examples: ['waybill whatsapp deactivate wa_…'],
  audit: ({ args: [id] }) => changes.deactivate(id),
  run: async (deps, { args: [id] }) => {
    const json = await deactivateWhatsAppAccount(deps, await requireAccountId(deps, id), id)
    const warning = ' It is still the default: requests that do not set accountId are rejected.'
    return { json, text: `${id} is deactivated.${json.isDefault ? warning : ''}` }
  },
})

export const whatsappSetMarketing = dataCommand({
  name: 'whatsapp set-marketing',
  summary: 'Set which endpoint of WhatsApp marketing templates are sent to',
  args: ['WA'],
  options: {
    endpoint: {
      value: 'S',
      help: 'automatic: the endpoint that WhatsApp asks for; cloud_api: always /messages',
      choices: marketingSettings,
      required: true,
    },
  },
  notes: [
    'With automatic, which is the default, templates of the category MARKETING go to /marketing_messages as soon as the\nbusiness account is onboarded to the Marketing Messages API. Use cloud_api for a provider without this endpoint.',
  ],
  examples: ['waybill whatsapp set-marketing wa_… --endpoint cloud_api'],
  audit: ({ args: [id], options }) => changes.setMarketing(id, options.endpoint),
  run: async (deps, { args: [id], options }) => {
    const setting = options.endpoint as MarketingSetting // the parser has checked the choices
    const json = await setMarketing(
      deps,
      { accountId: await requireAccountId(deps, id), whatsAppAccountId: id },
      setting,
    )
    return { json, text: `${id}: ${describeMarketingSetting(setting)}` }
  },
})

function describeMarketingSetting(setting: MarketingSetting): string {
  return setting === 'cloud_api'
    ? 'marketing templates are always sent to /messages.'
    : 'marketing templates are sent to the endpoint that WhatsApp asks for.'
}

export const whatsappSetDefault = dataCommand({
  name: 'whatsapp set-default',
  summary: 'Make a WhatsApp account the default for requests that do not set accountId',
  args: ['WA'],
  options: {},
  examples: ['waybill whatsapp set-default wa_…'],
  audit: ({ args: [id] }) => changes.makeDefault(id),
  run: async (deps, { args: [id] }) => {
    const json = await setDefaultWhatsAppAccount(deps, await requireAccountId(deps, id), id)
    return { json, text: `${id} is now the default of its account.` }
  },
})

export const whatsappRemove = dataCommand({
  name: 'whatsapp remove',
  summary: 'Remove a WhatsApp account and its secrets; its messages stay',
  args: ['WA'],
  options: {},
  notes: ['The default account can only be removed if it is the last one. Make another one the default first.'],
  examples: ['waybill whatsapp remove wa_…'],
  audit: ({ args: [id] }) => changes.removeWhatsAppAccount(id),
  run: async (deps, { args: [id] }) => {
    const json = await removeWhatsAppAccount(deps, await requireAccountId(deps, id), id)
    return { json, text: `${id} is removed.` }
  },
})

async function requireAccountId(deps: Pick<Deps, 'db'>, whatsAppAccountId: string): Promise<string> {
  const accountId = await findAccountOfWhatsAppAccount(deps.db, whatsAppAccountId)
  if (accountId === undefined) throw whatsAppAccountNotFound(whatsAppAccountId)
  return accountId
}

function formatWhatsAppAccounts(accountId: string, items: WhatsAppAccount[]): string {
  if (items.length === 0) return `${accountId} has no WhatsApp accounts. To add one, see: waybill whatsapp add --help`
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
