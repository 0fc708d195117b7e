import { useQuery } from '@tanstack/react-query'
import type { Message } from '../../../../../contracts/api/message.ts'
import { api } from '../../../api/client.ts'
import { useAccount } from '../../../session/session.ts'

export type Content = Awaited<ReturnType<typeof api.message.content.query>>
export type StoredContent = Extract<Content, { state: 'stored' }>

/** The content of the message, if it is stored. Removed from the cache when the message is closed. */
export function useContent({ messageId }: Message) {
  const { accountId, viewedUntil } = useAccount()
  return useQuery({
    queryKey: ['messageContent', accountId, messageId],
    queryFn: ({ signal }) => api.message.content.query({ accountId, messageId }, { signal }),
    // The server rejects operators who view an account.
    enabled: viewedUntil === undefined,
    staleTime: 60_000,
    gcTime: 0,
  })
}

export function useStoredContent(message: Message): StoredContent | undefined {
  const { data } = useContent(message)
  return data?.state === 'stored' ? data : undefined
}
