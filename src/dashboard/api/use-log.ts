import { keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

/** Number of items per page. */
export const logPageSize = 25
const refreshMilliseconds = 4_000

/**
 * The query of the URL. A change of filters starts from it: the page follows the URL with a delay, so the filters that it
 * shows can be older than the last change.
 */
export function currentSearch(): URLSearchParams {
  return new URLSearchParams(location.search)
}

interface LogPage {
  items: readonly unknown[]
  nextCursor?: string | undefined
}

interface PageRequest {
  limit: number
  cursor?: string
}

/** Reads a list page by page. Refreshes, if at all, while only the first page is loaded. */
export function usePages<Page extends { nextCursor?: string | undefined }>(
  queryKey: QueryKey,
  list: (page: { cursor?: string }, options: { signal: AbortSignal }) => Promise<Page>,
  { refreshMilliseconds }: { refreshMilliseconds?: number } = {},
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => list(pageParam === '' ? {} : { cursor: pageParam }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 && refreshMilliseconds) || false,
    placeholderData: keepPreviousData,
  })
}

/** Reads a log, newest first. */
export function useLog<Page extends LogPage>(
  queryKey: QueryKey,
  list: (page: PageRequest, options: { signal: AbortSignal }) => Promise<Page>,
) {
  const log = usePages(queryKey, (page, options) => list({ limit: logPageSize, ...page }, options), {
    refreshMilliseconds,
  })
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = log
  const loadMore = useLoadUntilFound(async () => {
    const { data, hasNextPage, isError } = await fetchNextPage()
    return isError || !hasNextPage || data?.pages.at(-1)?.items.length !== 0
  })
  return { log, more: { hasNextPage, isFetchingNextPage, fetchNextPage: loadMore } }
}

/** Calls `load` until it finds an item or reaches the end, because pages can be empty. Stops when the user leaves the page. */
function useLoadUntilFound(load: () => Promise<boolean>) {
  const isMounted = useRef(false)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  return async () => {
    while (!(await load()) && isMounted.current);
  }
}
