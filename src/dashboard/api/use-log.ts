import { keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

/** Items of a page of a log. */
export const logPageSize = 25
const refreshMilliseconds = 4_000

interface LogPage {
  items: readonly unknown[]
  nextCursor?: string | undefined
}

interface PageRequest {
  limit: number
  cursor?: string
}

/** Reads a log, newest first, page by page. It refreshes while only the first page is loaded. */
export function useLog<Page extends LogPage>(
  queryKey: QueryKey,
  list: (page: PageRequest, options: { signal: AbortSignal }) => Promise<Page>,
) {
  const log = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      list({ limit: logPageSize, ...(pageParam !== '' && { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 ? refreshMilliseconds : false),
    placeholderData: keepPreviousData,
  })
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = log
  const loadMore = useLoadUntilFound(async () => {
    const { data, hasNextPage, isError } = await fetchNextPage()
    return isError || !hasNextPage || data?.pages.at(-1)?.items.length !== 0
  })
  return { log, more: { hasNextPage, isFetchingNextPage, fetchNextPage: loadMore } }
}

/**
 * If few items match, pages can be empty, so it continues until `load` has found an item or reached the end, or until
 * the user leaves.
 */
function useLoadUntilFound(load: () => Promise<boolean>) {
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return async () => {
    while (!(await load()) && isHere.current);
  }
}
