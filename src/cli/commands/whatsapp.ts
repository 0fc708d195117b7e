import { changes } from '../../../contracts/dashboard/changes.ts'
import type { WhatsAppAccount } from '../../../contracts/dashboard/whatsapp-account.ts'
import { addWhatsAppAccount } from '../../accounts/whatsapp/add.ts'
import {
  activateWhatsAppAccount,
  deactivateWhatsAppAccount,
  removeWhatsAppAccount,
  setDefaultWhatsAppAccount,
} from '../../accounts/whatsapp/change.ts'
import { findOwner } from '../../accounts/whatsapp/store.ts'
import { listWhatsAppAccounts, whatsAppAccountNotFound } from '../../accounts/whatsapp/whatsapp-account.ts'
import type { Deps } from '../../deps.ts'
import { dataCommand } from '../command.ts'
import { formatTable } from '../help.ts'

export const whatsappAdd = dataCommand({
  name: 'whatsapp add',
  summary: 'Add a WhatsApp account: a business phone number to send from',
  args: ['ACC'],
  options: {
    'phone-number-id': { value: 'ID', help: "Meta's id of the phone number", required: true },
    'waba-id': { value: 'ID', help: "Meta's id of the WhatsApp Business Account it belongs to", required: true },
    'access-token': { value: 'T', help: 'Access token of a system user; - reads it', required: true, secret: true },
    'app-secret': {
      value: 'S',
      help: "App secret of its Meta app, if not META_APP_SECRET's; - reads it",
      secret: true,
    },
    default: { help: 'Send from this one when a request names none; the first one is the default anyway' },
    unverified: { help: 'Store it without asking WhatsApp whether the token works for this number' },
  },
  notes: [
    'A secret on the command line ends in the history of your shell. With - each of them is read from standard\ninput instead, the access token first and the app secret on the next line. Both are kept encrypted.',
    'An app with a secret of its own calls a callback URL of its own: https://<your host>/webhooks/whatsapp/<WA>,\nwith the id that this command prints.',
    'WhatsApp is asked whether the token reaches the number, and whether the number belongs to the WABA. If not, nothing\nis stored. --unverified leaves that out, such as while WhatsApp cannot be reached: see that the IDs are yours.',
  ],
  examples: [
    'waybill whatsapp add acc_… --phone-number-id 106540352242922 --waba-id 102290129340398 --access-token - < token.txt',
    'cat token.txt app-secret.txt | waybill whatsapp add acc_… --phone-number-id 106540352242922 \\\n    --waba-id 102290129340398 --access-token - --app-secret -',
  ],
  audit: ({ options }) => changes.addWhatsAppAccount(options['phone-number-id'], { unverified: options.unverified }),
  run: async (deps, { args: [accountId], options }) => {
    const json = await addWhatsAppAccount(deps, accountId, {
      phoneNumberId: options['phone-number-id'],
      wabaId: options['waba-id'],
      accessToken: options['access-token'],
      appSecret: options['app-secret'],
      makeDefault: options.default,
      unverified: options.unverified,
    })
    const address =
      options['app-secret'] === undefined
        ? ''
        : `\nCallback URL of its app: ${callbackUrl(deps, json.whatsAppAccountId)}`
    return {
      json,
      text: `${json.whatsAppAccountId} is added. Its templates: waybill template sync ${accountId}${address}`,
    }
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
  summary: 'Let a WhatsApp account send again',
  args: ['WA'],
  options: {},
  notes: ['One whose token WhatsApp refused is refused again, unless something changed there.'],
  examples: ['waybill whatsapp activate wa_…'],
  audit: ({ args: [id] }) => changes.activate(id),
  run: async (deps, { args: [id] }) => {
    const json = await activateWhatsAppAccount(deps, await requireOwner(deps, id), id)
    return { json, text: `${id} is active.` }
  },
})

export const whatsappDeactivate = dataCommand({
  name: 'whatsapp deactivate',
  summary: 'Stop a WhatsApp account from sending',
  args: ['WA'],
  options: {},
  notes: ['A default stays the default: requests that name no WhatsApp account are then refused.'],
  examples: ['waybill whatsapp deactivate wa_…'],
  audit: ({ args: [id] }) => changes.deactivate(id),
  run: async (deps, { args: [id] }) => {
    const json = await deactivateWhatsAppAccount(deps, await requireOwner(deps, id), id)
    const refused = ' It is still the default: requests that name no WhatsApp account are refused.'
    return { json, text: `${id} no longer sends.${json.isDefault ? refused : ''}` }
  },
})

export const whatsappSetDefault = dataCommand({
  name: 'whatsapp set-default',
  summary: 'Send from this WhatsApp account when a request names none',
  args: ['WA'],
  options: {},
  examples: ['waybill whatsapp set-default wa_…'],
  audit: ({ args: [id] }) => changes.makeDefault(id),
  run: async (deps, { args: [id] }) => {
    const json = await setDefaultWhatsAppAccount(deps, await requireOwner(deps, id), id)
    return { json, text: `${id} is the default of its account.` }
  },
})

export const whatsappRemove = dataCommand({
  name: 'whatsapp remove',
  summary: 'Forget a WhatsApp account and its secrets; its messages stay',
  args: ['WA'],
  options: {},
  notes: ['The default can be removed only when it is the last one: make another one the default first.'],
  examples: ['waybill whatsapp remove wa_…'],
  audit: ({ args: [id] }) => changes.removeWhatsAppAccount(id),
  run: async (deps, { args: [id] }) => {
    const json = await removeWhatsAppAccount(deps, await requireOwner(deps, id), id)
    return { json, text: `${id} is removed.` }
  },
})

function callbackUrl({ publicUrl }: Pick<Deps, 'publicUrl'>, whatsAppAccountId: string): string {
  return new URL(`/webhooks/whatsapp/${whatsAppAccountId}`, publicUrl).href
}

async function requireOwner(deps: Pick<Deps, 'db'>, whatsAppAccountId: string): Promise<string> {
  const accountId = await findOwner(deps.db, whatsAppAccountId)
  if (accountId === undefined) throw whatsAppAccountNotFound(whatsAppAccountId)
  return accountId
}

function formatWhatsAppAccounts(accountId: string, items: WhatsAppAccount[]): string {
  if (items.length === 0) return `${accountId} has no WhatsApp account yet. How to add one: waybill whatsapp add --help`
  return formatTable(
    ['WHATSAPP ACCOUNT', 'PHONE NUMBER ID', 'WABA ID', 'DEFAULT', 'STATE'],
    items.map((item) => [
      item.whatsAppAccountId,
      item.phoneNumberId,
      item.wabaId,
      item.isDefault ? 'default' : '',
      item.active ? 'active' : `inactive: ${item.reason ?? 'no reason was kept'}`,
    ]),
  )
}
