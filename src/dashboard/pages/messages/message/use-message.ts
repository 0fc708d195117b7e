import { useQuery } from '@tanstack/react-query'
import { api } from '../../../api/client.ts'
import { useAccount } from '../../../session/session.ts'

export type MessageHistory = Awaited<ReturnType<typeof api.message.get.query>>

export function messageKey(accountId: string, messageId: string) {
  return ['message', accountId, messageId]
}

/** Refreshes while the message can still change, or be replied to. */
export function useMessage(messageId: string) {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: messageKey(accountId, messageId),
    queryFn: ({ signal }) => api.message.get.query({ accountId, messageId }, { signal }),
    refetchInterval: ({ state }) => state.data && refreshMilliseconds(state.data),
  })
}

function refreshMilliseconds({ message: { status }, deliveries }: MessageHistory): number | false {
  const isWaiting = deliveries.some(({ state }) => state === 'waiting')
  switch (status) {
    case 'pending':
    case 'sent':
      return 2_000
    // Refreshes less often: many recipients turn off read receipts, and few reply.
    case 'delivered':
      return 5_000
    case 'read':
      return isWaiting ? 2_000 : 5_000
    case 'failed':
      return isWaiting ? 2_000 : false
  }
}
