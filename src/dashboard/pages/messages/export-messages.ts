import { t } from '@lingui/core/macro'
import type { QueryClient } from '@tanstack/react-query'
import { maxListed, type ListedMessage } from '../../../../contracts/dashboard/message.ts'
import { ReportedCategory } from '../../../../contracts/pricing.ts'
import { api } from '../../api/client.ts'
import { isRetryable } from '../../api/failure.ts'
import { say } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import { describeCategory } from '../../ui/money.ts'
import { localZone, toSheetTime } from '../../ui/time.ts'
import { type MessageFilters, toListInput } from './message-filters.ts'
import { statusNames } from './message-status.tsx'
import { byteOrderMark, toCsv } from './to-csv.ts'

/** Excel and LibreOffice open 1,048,576 rows. */
export const maxExported = 1_000_000
/** Takes about half a minute in total. */
const maxRetries = 5

/** What has been loaded so far. After a failure, the export continues from here. */
export interface Export {
  /** Fixed, so that a range such as the last hour does not move between pages. */
  startedAt: Date
  /** Outside the heap of the page, so that a large export does not fill it. */
  parts: Blob[]
  count: number
  /** Whether the audit log has it. */
  isRecorded: boolean
  /** Where the next page starts; undefined before the first page and after the last one. */
  cursor: string | undefined
}

interface Pages {
  queryClient: QueryClient
  accountId: string
  filters: MessageFilters
  signal: AbortSignal
  onProgress: (exported: Export) => void
}

export function beginExport(): Export {
  const titles = listColumns().map(({ title }) => title)
  const parts = [new Blob([byteOrderMark + toCsv([titles])])]
  return { startedAt: new Date(), parts, count: 0, isRecorded: false, cursor: undefined }
}

/** Loads all matching messages page by page, newest first. `cursor` is defined at the end if there are more than an export can hold. */
export async function continueExport(from: Export, pages: Pages): Promise<Export> {
  const columns = listColumns()
  let exported = from
  do {
    const { items, nextCursor } = await readPage(exported, pages)
    const rows = items.map((message) => columns.map(({ read }) => read(message)))
    exported = {
      ...exported,
      parts: [...exported.parts, new Blob([toCsv(rows)])],
      count: exported.count + items.length,
      cursor: nextCursor,
    }
    pages.onProgress(exported)
  } while (exported.cursor !== undefined && exported.count < maxExported)
  return exported
}

function readPage({ startedAt, count, cursor }: Export, { queryClient, accountId, filters, signal }: Pages) {
  const limit = Math.min(maxListed, maxExported - count)
  const input = { accountId, ...toListInput(filters, startedAt), limit, ...(cursor !== undefined && { cursor }) }
  return queryClient.fetchQuery({
    // Unique to this export, since a cancelled one may still have a retry pending.
    queryKey: ['exportedMessages', startedAt, input],
    queryFn: () => api.message.list.query(input, { signal }),
    retry: (failures, error) => !signal.aborted && failures < maxRetries && isRetryable(error),
    staleTime: 0,
    gcTime: 0,
  })
}

interface Column {
  title: string
  read: (message: ListedMessage) => string | undefined
}

/** For people and their spreadsheets: titles in their language, and local times. Programs use the API. */
function listColumns(): Column[] {
  const zone = localZone()
  const time = (title: string, read: (message: ListedMessage) => string | undefined): Column => ({
    title: `${title} (${zone})`,
    read: (message) => {
      const at = read(message)
      return at === undefined ? undefined : toSheetTime(at)
    },
  })
  return [
    time(t`Time`, ({ createdAt }) => createdAt),
    { title: t`Recipient`, read: ({ to }) => to },
    { title: t`Template`, read: ({ template }) => template },
    { title: t`Language`, read: ({ language }) => language },
    { title: t`Status`, read: ({ status }) => translate(statusNames[status]) },
    { title: t`Price category`, read: ({ pricing }) => describePricing(pricing)?.category },
    // WhatsApp charges when a message is delivered.
    {
      title: t`Charged by WhatsApp`,
      read: ({ status, pricing }) =>
        status === 'delivered' || status === 'read' ? describePricing(pricing)?.charged : undefined,
    },
    { title: t`Error code`, read: ({ error }) => error?.code },
    { title: t`Reason`, read: ({ meaning, facts }) => meaning && say({ meaning, facts }, 'meaning') },
    { title: t`Reason in detail`, read: ({ error }) => error?.message },
    time(t`Sent`, ({ sentAt }) => sentAt),
    time(t`Delivered`, ({ deliveredAt }) => deliveredAt),
    time(t`Read`, ({ readAt }) => readAt),
    time(t`Failed`, ({ failedAt }) => failedAt),
    { title: t`External ID`, read: ({ externalId }) => externalId },
    { title: t`Message ID`, read: ({ messageId }) => messageId },
    { title: t`WhatsApp ID`, read: ({ waMessageId }) => waMessageId },
    { title: t`WhatsApp account ID`, read: ({ accountId }) => accountId },
    { title: t`Number in WhatsApp`, read: ({ waId }) => waId },
    { title: t`User ID in WhatsApp`, read: ({ userId }) => userId },
  ]
}

/** `utility/free_entry_point` is a free message of the category `utility`. */
function describePricing(pricing: string | undefined): { category: string; charged: string } | undefined {
  if (pricing === undefined) return undefined
  const [name, freeReason] = pricing.split('/')
  const category = ReportedCategory.safeParse(name)
  return {
    category: describeCategory(category.success ? category.data : 'other'),
    charged: freeReason === undefined ? t`Yes` : t`No`,
  }
}
