import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { readFailure } from '../api/failure.ts'

interface ErrorAlertProps {
  /** Whatever was thrown, or the message itself. */
  error: unknown
  title?: string
  /** Offers to try again. */
  onRetry?: () => void
}

export function ErrorAlert({ error, title = 'That did not work', onRetry }: ErrorAlertProps) {
  return (
    <Alert color="red" icon={<IconAlertCircle />} title={title} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{typeof error === 'string' ? error : readFailure(error).message}</Text>
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
