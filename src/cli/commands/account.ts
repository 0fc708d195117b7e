import { changes } from '../../../contracts/changes.ts'
import { type Account, createAccount, listAccounts, updateAccount } from '../../accounts/account.ts'
import { resumeAccount, suspendAccount } from '../../accounts/suspend.ts'
import { dropContents } from '../../messages/contents/drop.ts'
import { dataCommand } from '../command.ts'
import { formatPairs, formatTable } from '../help.ts'

export const accountCreate = dataCommand({
  name: 'account create',
  summary: 'Create an account with its own API key, IP allow-list and WhatsApp accounts',
  args: [],
  options: { name: { value: 'NAME', help: 'Name of the account', required: true } },
  examples: ['waybill account create --name "Ada & Co"', 'waybill account create --name Shop --json'],
  run: async (deps, { options }) => {
    const { accountId, name } = await createAccount(deps, options)
    return {
      json: { accountId, name },
      text: `Account ${accountId} (${name}) created. Next: generate its API key with waybill key generate ${accountId}`,
    }
  },
})

export const accountUpdate = dataCommand({
  name: 'account update',
  summary:
    'Change settings of an account: API access, rate limit, template changes by its key, time zone of the overview, contents of messages',
  args: ['ACC'],
  options: {
    api: {
      value: 'enabled|disabled',
      help: 'Whether the API accepts requests of the account',
      choices: ['enabled', 'disabled'],
    },
    'rate-limit': { value: 'N', help: 'Sends per minute', number: true },
    'template-changes': {
      value: 'enabled|disabled',
      help: 'Whether the API key may create, change and delete templates',
      choices: ['enabled', 'disabled'],
    },
    'message-contents': {
      value: 'DAYS|off',
      help: 'Store what messages say, encrypted, for 1 to 365 days; off deletes what is stored',
    },
    'time-zone': { value: 'ZONE', help: 'Time zone in which the overview shows days, such as Europe/Madrid' },
  },
  examples: [
    'waybill account update acc_… --api disabled',
    'waybill account update acc_… --rate-limit 600',
    'waybill account update acc_… --time-zone Europe/Madrid',
    'waybill account update acc_… --message-contents 30',
  ],
  audit: ({
    options: {
      api,
      'rate-limit': rateLimit,
      'template-changes': templateChanges,
      'time-zone': timeZone,
      'message-contents': contents,
    },
  }) =>
    [
      ...(api === undefined ? [] : [changes.switchApi(api === 'enabled')]),
      ...(rateLimit === undefined ? [] : [`set the rate limit to ${rateLimit} a minute`]),
      ...(templateChanges === undefined ? [] : [changes.switchTemplateChanges(templateChanges === 'enabled')]),
      ...(timeZone === undefined ? [] : [changes.setTimeZone(timeZone)]),
      ...(contents === undefined ? [] : [changes.setMessageContents(readContentsDays(contents))]),
    ].join(' and ') || undefined,
  run: async (deps, { args: [accountId], options }) => {
    const rateLimit = options['rate-limit']
    const templateChanges = options['template-changes']
    const contents = options['message-contents']
    const messageContentsDays = contents === undefined ? undefined : readContentsDays(contents)
    const account = await updateAccount(deps, accountId, {
      apiEnabled: options.api === undefined ? undefined : options.api === 'enabled',
      rateLimit: rateLimit === undefined ? undefined : Number(rateLimit),
      templateChangesEnabled: templateChanges === undefined ? undefined : templateChanges === 'enabled',
      timeZone: options['time-zone'],
      messageContentsDays,
    })
    if (messageContentsDays === null) await dropContents(deps, accountId)
    return { json: account, text: describeAccount(account) }
  },
})

export const accountList = dataCommand({
  name: 'account list',
  summary: 'List the accounts, oldest first',
  args: [],
  options: {},
  examples: ['waybill account list', 'waybill account list --json'],
  run: async (deps) => {
    const items = await listAccounts(deps)
    return { json: { items }, text: formatAccounts(items) }
  },
})

export const accountSuspend = dataCommand({
  name: 'account suspend',
  summary: 'Suspend an account: its API key and all its sends are rejected until it is resumed',
  args: ['ACC'],
  options: {},
  notes: [
    'Owners cannot resume it. Statuses of earlier messages are still received and delivered.\nTo let owners enable it again themselves, use waybill account update ACC --api disabled.',
  ],
  examples: ['waybill account suspend acc_…'],
  audit: () => changes.suspendAccount(),
  run: async (deps, { args: [accountId] }) => {
    const account = await suspendAccount(deps, accountId)
    return { json: account, text: describeAccount(account) }
  },
})

export const accountResume = dataCommand({
  name: 'account resume',
  summary: 'Resume a suspended account',
  args: ['ACC'],
  options: {},
  examples: ['waybill account resume acc_…'],
  audit: () => changes.resumeAccount(),
  run: async (deps, { args: [accountId] }) => {
    const account = await resumeAccount(deps, accountId)
    return { json: account, text: describeAccount(account) }
  },
})

function describeAccount(account: Account): string {
  return formatPairs([
    ['Account', account.accountId],
    ['Name', account.name],
    ['API', describeApi(account)],
    ['Rate limit', `${account.rateLimit} per minute`],
    ['Template changes', account.templateChanges],
    ['Time zone', account.timeZone],
    ['Message contents', describeContents(account)],
    ['Allow-list', account.allowList.length === 0 ? 'any address' : account.allowList.join(', ')],
    ['Key', account.keyStart === undefined ? 'none' : `${account.keyStart}…`],
  ])
}

function readContentsDays(given: string): number | null {
  return given === 'off' ? null : Number(given)
}

function describeContents({ messageContentsDays: days }: Account): string {
  return days === undefined ? 'not stored' : `stored for ${days} ${days === 1 ? 'day' : 'days'}`
}

function describeApi({ api, suspendedAt }: Account): string {
  return suspendedAt === undefined ? api : 'suspended'
}

function formatAccounts(accounts: Account[]): string {
  if (accounts.length === 0) return 'No accounts. Create one: waybill account create --name NAME'
  return formatTable(
    ['ACCOUNT', 'NAME', 'API', 'RATE LIMIT', 'ALLOW-LIST', 'KEY'],
    accounts.map((account) => [
      account.accountId,
      account.name,
      describeApi(account),
      String(account.rateLimit),
      account.allowList.length === 0 ? 'any address' : account.allowList.join(','),
      account.keyStart === undefined ? 'none' : `${account.keyStart}…`,
    ]),
  )
}
