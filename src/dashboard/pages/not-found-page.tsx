import { Button } from '@mantine/core'
import { IconMapOff } from '@tabler/icons-react'
import { Link } from 'react-router'
import { EmptyState } from '../ui/empty-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'

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
