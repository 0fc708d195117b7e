import { Button, Container } from '@mantine/core'
import { IconMapOff, IconPlugConnectedX } from '@tabler/icons-react'
import { Link } from 'react-router'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState, LoadingSkeleton } from '../ui/placeholders.tsx'

/** Shown if a page cannot be loaded or rendered, for example because a server update removed its old files. */
export function RouteError() {
  return (
    <Container size="sm" py={96}>
      <title>Something went wrong · Waybill</title>
      <EmptyState
        icon={IconPlugConnectedX}
        title="This page could not be loaded"
        action={<Button onClick={() => window.location.reload()}>Reload</Button>}
      >
        The server may have been updated, or your connection was interrupted.
      </EmptyState>
    </Container>
  )
}

export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={IconMapOff}
        title="No page at this address"
        action={
          <Button component={Link} to="/" variant="default">
            Go to the overview
          </Button>
        }
      >
        Check the address. It may belong to an account that you are not a member of.
      </EmptyState>
    </>
  )
}

/** Shown until the session is loaded. */
export function WholePageSkeleton() {
  return (
    <Container size="sm" py={96}>
      <LoadingSkeleton />
    </Container>
  )
}
