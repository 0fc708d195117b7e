import { useQuery } from '@tanstack/react-query'
import type { Message } from '../../../../../contracts/api/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { api } from '../../../api/client.ts'
import { isRetryable } from '../../../api/failure.ts'
import { useAccount } from '../../../session/session.ts'
import { useTemplates } from '../../templates/use-templates.ts'

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

export type FoundTemplate =
  | { kind: 'loading' }
  | { kind: 'found'; template: OwnTemplate }
  /** It is unknown whether there is a template. */
  | { kind: 'failed'; error: unknown; retry: () => unknown }
  /** The template was deleted, or its WhatsApp account was removed. */
  | { kind: 'missing' }

/** Templates change rarely, and every opened message reads its template. */
const staleMilliseconds = 60_000

/** The current version of a message's template. */
export function useTemplateOf({ template: wanted, language, accountId }: Message): FoundTemplate {
  const { data, error, isPending, refetch } = useTemplates(accountId, { staleTime: staleMilliseconds })
  if (isPending) return { kind: 'loading' }
  if (!data && isRetryable(error)) return { kind: 'failed', error, retry: refetch }
  const template = data?.items.find((one) => one.name === wanted && one.language === language)
  return template ? { kind: 'found', template } : { kind: 'missing' }
}
