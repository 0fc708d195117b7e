import { changes } from '../../../contracts/changes.ts'
import type { IssuedKey } from '../../../contracts/dashboard/public-api.ts'
import { generateKey, regenerateKey, revokeKey } from '../../accounts/api-key.ts'
import { type CommandResult, dataCommand } from '../command.ts'

export const keyGenerate = dataCommand({
  name: 'key generate',
  summary: 'Generate the API key of an account and print it once',
  args: ['ACC'],
  options: {},
  notes: ['An account has one key. If it already has one, this command fails: use waybill key regenerate.'],
  examples: ['waybill key generate acc_…', 'waybill key generate acc_… --json'],
  audit: changes.generateKey,
  run: async (deps, { args: [accountId] }) => showKey(accountId, await generateKey(deps, accountId)),
})

export const keyRegenerate = dataCommand({
  name: 'key regenerate',
  summary: 'Replace the API key of an account and print the new one once',
  args: ['ACC'],
  options: {},
  notes: ['The old key becomes invalid immediately, on every node.'],
  examples: ['waybill key regenerate acc_…'],
  audit: changes.regenerateKey,
  run: async (deps, { args: [accountId] }) => showKey(accountId, await regenerateKey(deps, accountId)),
})

export const keyRevoke = dataCommand({
  name: 'key revoke',
  summary: 'Delete the API key of an account; requests are rejected until a new key is generated',
  args: ['ACC'],
  options: {},
  examples: ['waybill key revoke acc_…'],
  audit: changes.revokeKey,
  run: async (deps, { args: [accountId] }) => {
    const { revoked } = await revokeKey(deps, accountId)
    return {
      json: { accountId, revoked },
      text: revoked ? `Deleted the API key of ${accountId}.` : `${accountId} has no API key.`,
    }
  },
})

function showKey(accountId: string, key: IssuedKey): CommandResult {
  return {
    json: key,
    text: `${key.apiKey}\n\nStore this key now: it cannot be shown again. Lists show it as ${key.start}…`,
    ifLost: `the API key is valid, but cannot be shown again. Make another: waybill key regenerate ${accountId}`,
  }
}
