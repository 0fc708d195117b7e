import {
  generateKey,
  type IssuedKey,
  regenerateKey,
  revokeKey,
  setAllowList,
} from '../../../contracts/dashboard/public-api.ts'
import { contractCommand } from '../contract-command.ts'
import { waybill } from '../program.ts'

interface OfAccount {
  ACC: string
}

const shownOnce = {
  args: { ACC: 'accountId' },
  text: ({ apiKey, start }: IssuedKey) =>
    `${apiKey}\n\nStore this key now: it cannot be shown again. Lists show it as ${start}…`,
  ifLost: (_key: IssuedKey, { ACC }: OfAccount) =>
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
