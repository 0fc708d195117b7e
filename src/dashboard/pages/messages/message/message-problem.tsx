import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button } from '@mantine/core'
import { IconMailOff } from '@tabler/icons-react'
import { Link } from 'react-router'
import { readFailure } from '../../../api/failure.ts'
import { useAccount } from '../../../session/session.ts'
import { EmptyState, ErrorAlert } from '../../../ui/placeholders.tsx'

/** Explains why a message is not shown. */
export function MessageProblem({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  const { accountId } = useAccount()
  if (readFailure(error).code !== 'MESSAGE_NOT_FOUND') return <ErrorAlert error={error} onRetry={onRetry} />
  return (
    <EmptyState
      icon={IconMailOff}
      title={t`Message not found`}
      action={
        <Button component={Link} to={`/${accountId}/messages`} variant="default">
          <Trans>Show all messages</Trans>
        </Button>
      }
    >
      <Trans>Check the address. The message may be older than the retention period.</Trans>
    </EmptyState>
  )
}
