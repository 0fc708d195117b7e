import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { useApiAccess } from '../public-api/use-api-access.ts'
import { useEndpoints } from '../webhooks/use-endpoints.ts'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import type { Progress } from './steps.ts'

/** Which steps the account has completed; undefined until all queries are loaded. */
export function useProgress(): Progress | undefined {
  const { accountId } = useAccount()
  const { sandbox } = useUser()
  const whatsAppAccounts = useWhatsAppAccounts().data
  const access = useApiAccess().data
  const endpoints = useEndpoints(accountId).data
  const newest = useQuery({
    queryKey: ['messages', accountId, 'newest'],
    queryFn: async ({ signal }) => (await api.message.list.query({ accountId, limit: 2 }, { signal })).items,
  }).data
  if (!whatsAppAccounts || !access || !endpoints || !newest) return undefined
  return {
    connect: whatsAppAccounts.length > 0,
    key: access.key !== undefined,
    // The sandbox sends one message of its own, which is nobody's first.
    send: newest.length > (sandbox && access.key?.lastUsedAt === undefined ? 1 : 0),
    webhook: endpoints.items.length > 0,
  }
}
