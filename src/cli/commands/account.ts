import {
  generateKey,
  type IssuedKey,
  regenerateKey,
  revokeKey,
  setAllowList,
} from '../../../contracts/dashboard/public-api.ts'
import {
  type Account,
  createAccount,
  listAccounts,
  resumeAccount,
  suspendAccount,
  updateAccount,
} from '../../../contracts/command-line/account.ts'
import { contractCommand } from '../contract-command.ts'
import { formatPairs, formatTable } from '../help.ts'
import { waybill } from '../failure.ts'

const enabled = { value: 'enabled|disabled' } as const

export const accountCommands = [
  contractCommand(createAccount, {
    name: 'account create',
    summary: 'Create an account with its own API key, IP allow-list and WhatsApp accounts',
    options: { name: { value: 'NAME', help: 'Name of the account' } },
    examples: ['waybill account create --name "Ada & Co"', 'waybill account create --name Shop --json'],
    text: ({ accountId, name }) =>
      `Account ${accountId} (${name}) created. Next: generate its API key with ${waybill} key generate ${accountId}`,
  }),
  contractCommand(updateAccount, {
    name: 'account update',
    summary:
      'Change settings of an account: API access, rate limit, template changes by its key, MCP, time zone of the overview, contents of messages',
    args: { ACC: 'accountId' },
    options: {
      api: { ...enabled, help: 'Whether the API accepts requests of the account' },
      'rate-limit': { value: 'N', help: 'Sends per minute' },
      'template-changes': { ...enabled, help: 'Whether the API key may create, change and delete templates' },
      mcp: { ...enabled, help: 'Whether AI assistants can use the API key at /mcp' },
      'message-contents': {
        value: 'DAYS|off',
        help: 'Store what messages say, encrypted, for 1 to 365 days; off deletes what is stored',
        field: 'messageContentsDays',
        off: 'off',
        read: Number,
      },
      'time-zone': { value: 'ZONE', help: 'Time zone in which the overview shows days, such as Europe/Madrid' },
    },
    examples: [
      'waybill account update acc_… --api disabled',
      'waybill account update acc_… --rate-limit 600',
      'waybill account update acc_… --time-zone Europe/Madrid',
      'waybill account update acc_… --message-contents 30',
    ],
    rejectedWith: 1,
    text: describeAccount,
  }),
  contractCommand(suspendAccount, {
    name: 'account suspend',
    summary: 'Suspend an account: its API key and all its sends are rejected until it is resumed',
    args: { ACC: 'accountId' },
    notes: [
      'Owners cannot resume it. Statuses of earlier messages are still received and delivered.\nTo let owners enable it again themselves, use waybill account update ACC --api disabled.',
    ],
    examples: ['waybill account suspend acc_…'],
    text: describeAccount,
  }),
  contractCommand(resumeAccount, {
    name: 'account resume',
    summary: 'Resume a suspended account',
    args: { ACC: 'accountId' },
    examples: ['waybill account resume acc_…'],
    text: describeAccount,
  }),
  contractCommand(listAccounts, {
    name: 'account list',
    summary: 'List the accounts, oldest first',
    examples: ['waybill account list', 'waybill account list --json'],
    text: formatAccounts,
  }),
]

function describeAccount(account: Account): string {
  return formatPairs([
    ['Account', account.accountId],
    ['Name', account.name],
    ['API', describeApi(account)],
    ['Rate limit', `${account.rateLimit} per minute`],
    ['Template changes', account.templateChanges],
    ['MCP', account.mcp],
    ['Time zone', account.timeZone],
    ['Message contents', describeContents(account)],
    ['Allow-list', account.allowList.length === 0 ? 'any address' : account.allowList.join(', ')],
    ['Key', account.keyStart === undefined ? 'none' : `${account.keyStart}…`],
  ])
}

function describeContents({ messageContentsDays: days }: Account): string {
  return days === undefined ? 'not stored' : `stored for ${days} ${days === 1 ? 'day' : 'days'}`
}

function describeApi({ api, suspendedAt }: Account): string {
  return suspendedAt === undefined ? api : 'suspended'
}

function formatAccounts({ items: accounts }: { items: Account[] }): string {
  if (accounts.length === 0) return `No accounts. Create one: ${waybill} account create --name NAME`
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

const shownOnce = {
  args: { ACC: 'accountId' },
  text: ({ apiKey, start }: IssuedKey) =>
    `${apiKey}\n\nStore this key now: it cannot be shown again. Lists show it as ${start}…`,
  ifLost: (_key: IssuedKey, { ACC }: { ACC: string }) =>
    `the API key is valid, but cannot be shown again. Make another: ${waybill} key regenerate ${ACC}`,
} as const

export const keyCommands = [
  contractCommand(generateKey, {
    name: 'key generate',
    summary: 'Generate the API key of an account and print it once',
    notes: ['An account has one key. If it already has one, this command fails: use waybill key regenerate.'],
    examples: ['waybill key generate acc_…', 'waybill key generate acc_… --json'],
    ...shownOnce,
  }),
  contractCommand(regenerateKey, {
    name: 'key regenerate',
    summary: 'Replace the API key of an account and print the new one once',
    notes: ['The old key becomes invalid immediately, on every node.'],
    examples: ['waybill key regenerate acc_…'],
    ...shownOnce,
  }),
  contractCommand(revokeKey, {
    name: 'key revoke',
    summary: 'Delete the API key of an account; requests are rejected until a new key is generated',
    args: { ACC: 'accountId' },
    examples: ['waybill key revoke acc_…'],
    json: ({ revoked }, { ACC }) => ({ accountId: ACC, revoked }),
    text: ({ revoked }, { ACC }) => (revoked ? `Deleted the API key of ${ACC}.` : `${ACC} has no API key.`),
  }),
  contractCommand(setAllowList, {
    name: 'allow-list set',
    summary: 'Replace the IP allow-list of an account; without addresses, requests from any address are accepted',
    args: { ACC: 'accountId' },
    rest: { placeholder: 'ADDRESS-OR-CIDR', field: 'allowList' },
    notes: ['Behind a proxy, TRUST_PROXY determines the source address of a request.'],
    examples: ['waybill allow-list set acc_… 192.0.2.10 198.51.100.0/24 2001:db8::/32', 'waybill allow-list set acc_…'],
    rejectedWith: 1,
    text: ({ allowList }, { ACC }) =>
      allowList.length === 0
        ? `${ACC} accepts requests from any address.`
        : `${ACC} accepts requests from:\n${allowList.map((entry) => `  ${entry}`).join('\n')}`,
  }),
]
