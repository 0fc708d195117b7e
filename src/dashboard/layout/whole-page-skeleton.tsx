import { Container } from '@mantine/core'
import { LoadingSkeleton } from '../ui/loading-skeleton.tsx'

/** Before it is known who is there, and what they may see. */
export function WholePageSkeleton() {
  return (
    <Container size="sm" py={96}>
      <LoadingSkeleton />
    </Container>
  )
}
