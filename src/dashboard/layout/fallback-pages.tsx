import { Button, Container } from '@mantine/core'
import { IconMapOff, IconPlugConnectedX } from '@tabler/icons-react'
import { Link } from 'react-router'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState, LoadingSkeleton } from '../ui/placeholders.tsx'

/** A page that could not be loaded or drawn: after an update of the server its old files are gone. */
export function RouteError() {
  return (
    <Container size="sm" py={96}>
      <title>Something went wrong · Waybill</title>
      <EmptyState
        icon={IconPlugConnectedX}
        title="This page could not be shown"
        action={<Button onClick={() => window.location.reload()}>Load it again</Button>}
      >
        The server may have been updated in the meantime, or your connection was interrupted.
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
        title="There is nothing here"
        action={
          <Button component={Link} to="/" variant="default">
            Go to the first page
          </Button>
        }
      >
        The address may be mistyped, or it belongs to an account that you are not a member of.
      </EmptyState>
    </>
  )
}

/** Before it is known who is there, and what they may see. */
export function WholePageSkeleton() {
  return (
    <Container size="sm" py={96}>
      <LoadingSkeleton />
    </Container>
  )
}
