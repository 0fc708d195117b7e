import { Box, Skeleton, VisuallyHidden } from '@mantine/core'

/** Lines where content will be. */
export function LoadingSkeleton({ lines = 4 }: { lines?: number }) {
  return (
    <Box role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={16} mb="sm" width={line === lines - 1 ? '60%' : '100%'} />
      ))}
    </Box>
  )
}
