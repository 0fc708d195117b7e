import { useEffect, useRef } from 'react'
import type { useMessages } from './use-messages.ts'

/**
 * The next page of the log. Where little matches, pages can be empty: whoever asks for more gets something to
 * see, or the end, unless they leave before.
 */
export function useSearchOn({ fetchNextPage }: Pick<ReturnType<typeof useMessages>, 'fetchNextPage'>) {
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return async () => {
    for (;;) {
      const { data, hasNextPage, isError } = await fetchNextPage()
      const hasFound = data?.pages.at(-1)?.items.length !== 0
      if (hasFound || isError || !hasNextPage || !isHere.current) return
    }
  }
}
