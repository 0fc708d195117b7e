import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { apiAccessKey } from './use-api-access.ts'

/** `onIssued` hears of the new key, or that there is none any more. */
export function useKeyChanges({ onIssued }: { onIssued: (key: string | undefined) => void }) {
  const { accountId } = useAccount()
  const invalidates = [apiAccessKey(accountId)]
  return {
    generate: useChange({
      change: () => settings.publicApi.generateKey.mutate({ accountId }),
      invalidates,
      onDone: ({ apiKey }) => onIssued(apiKey),
    }),
    regenerate: useChange({
      change: () => settings.publicApi.regenerateKey.mutate({ accountId }),
      invalidates,
      onDone: ({ apiKey }) => onIssued(apiKey),
    }),
    revoke: useChange({
      change: () => settings.publicApi.revokeKey.mutate({ accountId }),
      invalidates,
      done: 'The API key is revoked.',
      onDone: () => onIssued(undefined),
    }),
  }
}
