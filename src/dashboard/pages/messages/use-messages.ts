import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { settings } from '../../api/settings.ts'
import { toListInput, type MessageFilters } from './message-filters.ts'

const refreshMilliseconds = 4_000
const pageSize = 25

/** The log, page by page. It refreshes itself until more than the first page is looked at. */
export function useMessages(accountId: string, filters: MessageFilters) {
  return useInfiniteQuery({
    queryKey: ['messages', accountId, filters],
    queryFn: ({ pageParam, signal }) =>
      settings.message.list.query(
        {
          accountId,
          ...toListInput(filters, new Date()),
          limit: pageSize,
          ...(pageParam !== '' && { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? refreshMilliseconds : false),
    placeholderData: keepPreviousData,
  })
}
