import { Button, Container } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { EmptyState } from '../ui/empty-state.tsx'

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
