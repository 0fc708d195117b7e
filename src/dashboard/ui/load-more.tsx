import { Button, Center } from '@mantine/core'

interface LoadMoreProps {
  /** What `useInfiniteQuery` of TanStack Query returns. */
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
}

/** The way to the next page of a list; nothing on the last one. */
export function LoadMore({ query }: LoadMoreProps) {
  if (!query.hasNextPage) return null
  return (
    <Center mt="md">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Load more
      </Button>
    </Center>
  )
}
