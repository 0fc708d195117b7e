import { Button, Container } from '@mantine/core'
import { IconMapOff, IconPlugConnectedX } from '@tabler/icons-react'
import { Link } from 'react-router'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../ui/placeholders.tsx'
import { SignedOutLayout } from './signed-out-layout.tsx'

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

interface UnavailablePageProps {
  error: unknown
  onRetry: () => unknown
}

/** Shown if the first request of the dashboard fails, before it is known who is signed in. */
export function UnavailablePage({ error, onRetry }: UnavailablePageProps) {
  return (
    <SignedOutLayout title="Waybill is unavailable" description="The dashboard opens as soon as the server responds.">
      <ErrorAlert error={error} onRetry={onRetry} />
    </SignedOutLayout>
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
