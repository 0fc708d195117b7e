import { useQuery } from '@tanstack/react-query'
import { api } from '../../../api/client.ts'
import { useAccount } from '../../../session/session.ts'

export type MessageHistory = Awaited<ReturnType<typeof api.message.get.query>>

export function messageKey(accountId: string, messageId: string) {
  return ['message', accountId, messageId]
}

/** Refreshes while the message can still change. */
export function useMessage(messageId: string) {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: messageKey(accountId, messageId),
    queryFn: ({ signal }) => api.message.get.query({ accountId, messageId }, { signal }),
    refetchInterval: ({ state }) => state.data && refreshMilliseconds(state.data),
  })
}

function refreshMilliseconds({ message: { status }, deliveries }: MessageHistory): number | false {
  switch (status) {
    case 'pending':
    case 'sent':
      return 2_000
    // Refreshes less often, because many recipients turn off read receipts.
    case 'delivered':
      return 5_000
    case 'read':
    case 'failed':
      return deliveries.some(({ state }) => state === 'waiting') ? 2_000 : false
  }
}
