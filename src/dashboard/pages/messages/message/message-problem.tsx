import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertCircle, IconMailOff } from '@tabler/icons-react'
import { readFailure } from '../../../api/failure.ts'
import { say } from '../../../language/facts.ts'
import { useAccount } from '../../../session/session.ts'
import { LinkButton } from '../../../ui/button.tsx'
import { EmptyState, ErrorAlert } from '../../../ui/placeholders.tsx'
import type { MessageHistory } from './use-message.ts'

/** Explains why a message is not shown. */
export function MessageProblem({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  const { accountId } = useAccount()
  if (readFailure(error).code !== 'MESSAGE_NOT_FOUND') return <ErrorAlert error={error} onRetry={onRetry} />
  return (
    <EmptyState
      icon={IconMailOff}
      title={t`Message not found`}
      action={<LinkButton to={`/${accountId}/messages`} variant="default">{t`Show all messages`}</LinkButton>}
    >
      <Trans>Check the address. The message may be older than the retention period.</Trans>
    </EmptyState>
  )
}

/** Shows the reason, the advice and the error code if the message failed. */
export function FailureAlert({ history: { message, failure } }: { history: MessageHistory }) {
  const { error } = message
  if (!error) return null
  return (
    <Alert color="red" icon={<IconAlertCircle />} title={failure ? say(failure, 'meaning') : t`The message failed`}>
      <Stack gap={6}>
        {failure && <Text size="sm">{say(failure, 'advice')}</Text>}
        <Text size="xs" c="dimmed">
          {/^\d+$/.test(error.code) ? t`WhatsApp error ${error.code}` : t`Error ${error.code}`}
          {error.message !== '' && error.message !== failure?.meaning && `: ${error.message}`}
        </Text>
      </Stack>
    </Alert>
  )
}
