import type { QueryClient } from '@tanstack/react-query'
import type { Message, MessagePage } from '../../../../contracts/api/message.ts'
import { isWorthRetrying } from '../../api/failure.ts'
import { settings } from '../../api/settings.ts'
import { type MessageFilters, toListInput } from './message-filters.ts'
import { byteOrderMark, toCsv } from './to-csv.ts'

/** What a browser holds and a spreadsheet opens without trouble. */
export const maxExported = 50_000
const pageSize = 100
/** With the pauses between them, half a minute: what was read so far is worth the wait. */
const maxRetries = 5

const columns: Record<string, (message: Message) => string | undefined> = {
  createdAt: (message) => message.createdAt,
  messageId: (message) => message.messageId,
  externalId: (message) => message.externalId,
  to: (message) => message.to,
  template: (message) => message.template,
  language: (message) => message.language,
  status: (message) => message.status,
  sentAt: (message) => message.sentAt,
  deliveredAt: (message) => message.deliveredAt,
  readAt: (message) => message.readAt,
  failedAt: (message) => message.failedAt,
  errorCode: (message) => message.error?.code,
  errorMessage: (message) => message.error?.message,
  whatsAppAccountId: (message) => message.accountId,
  waMessageId: (message) => message.waMessageId,
}

export interface Export {
  parts: string[]
  count: number
  /** Whether it ended before all that may match was looked through. */
  isCut: boolean
}

/** Reads everything that matches, page by page, the newest first. */
export async function exportMessages(
  queryClient: QueryClient,
  accountId: string,
  filters: MessageFilters,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (count: number) => void },
): Promise<Export> {
  // Once: a range such as the last hour must not move from page to page.
  const startedAt = new Date()
  const filter = toListInput(filters, startedAt)
  const parts = [byteOrderMark + toCsv([Object.keys(columns)])]
  let cursor: string | undefined
  let count = 0
  do {
    const limit = Math.min(pageSize, maxExported - count)
    const input = { accountId, ...filter, limit, ...(cursor !== undefined && { cursor }) }
    const page: MessagePage = await queryClient.fetchQuery({
      // Of this export alone: one that was cancelled may still wait for its next try.
      queryKey: ['exportedMessages', startedAt, input],
      queryFn: () => settings.message.list.query(input, { signal }),
      retry: (failures, error) => !signal.aborted && failures < maxRetries && isWorthRetrying(error),
      staleTime: 0,
      gcTime: 0,
    })
    parts.push(toCsv(page.items.map((message) => Object.values(columns).map((read) => read(message)))))
    count += page.items.length
    cursor = page.nextCursor
    onProgress(count)
  } while (cursor !== undefined && count < maxExported)
  return { parts, count, isCut: cursor !== undefined }
}
