import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertCircle, IconHelpCircle, IconMailOff } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { readFailure } from '../../../api/failure.ts'
import { say } from '../../../language/facts.ts'
import { useAccount } from '../../../session/session.ts'
import { LinkButton } from '../../../ui/button.tsx'
import { EmptyState, ErrorAlert } from '../../../ui/placeholders.tsx'
import { type MessageHistory, messageKey } from './use-message.ts'
import type { Message } from '../../../../../contracts/api/message.ts'
import { api } from '../../../api/client.ts'
import { useChange } from '../../../api/use-change.ts'

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

/** After this time, no response can arrive any more: the connection broke or the process died. */
const unknownAfterMilliseconds = 60_000

/** Whether it is unknown if WhatsApp accepted the message. Checked again while the page is open. */
export function useIsOutcomeUnknown({ status, createdAt }: Message): boolean {
  const [now, setNow] = useState(() => Date.now())
  const isPending = status === 'pending'
  useEffect(() => {
    if (!isPending) return undefined
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [isPending])
  return isPending && now - Date.parse(createdAt) >= unknownAfterMilliseconds
}

/** Explains a message without an outcome, and lets owners record what they found out. */
export function UnknownOutcomeAlert({ message }: { message: Message }) {
  if (!useIsOutcomeUnknown(message)) return null
  return (
    <Alert color="yellow" icon={<IconHelpCircle />} title={t`Outcome unknown`}>
      <Stack gap="sm">
        <Text size="sm">
          <Trans>
            WhatsApp’s response was lost, so the recipient may or may not have the message. A status from WhatsApp still
            settles it. If you know the outcome, for example from the recipient, record it here.
          </Trans>
        </Text>
        <ResolveButtons message={message} />
      </Stack>
    </Alert>
  )
}

/** The warning before such a message is sent again. */
export function DuplicateWarning({ message }: { message: Message }) {
  const isUnknown = useIsOutcomeUnknown(message)
  if (message.status !== 'pending') return null
  return (
    <Alert color="yellow" icon={<IconHelpCircle />} title={t`The recipient may get this message twice`}>
      <Stack gap="sm">
        <Text size="sm">
          {isUnknown ? (
            <Trans>
              WhatsApp may already have sent the first message. Find out first, for example from the recipient, and
              record the outcome.
            </Trans>
          ) : (
            <Trans>The first message is still being sent. Wait for its outcome.</Trans>
          )}
        </Text>
        {isUnknown && <ResolveButtons message={message} />}
      </Stack>
    </Alert>
  )
}

function ResolveButtons({ message: { messageId } }: { message: Message }) {
  const { accountId, canChange } = useAccount()
  const resolve = useChange({
    change: (as: 'sent' | 'failed') => api.message.resolve.mutate({ accountId, messageId, as }),
    invalidates: [messageKey(accountId, messageId), ['messages', accountId], ['overview', accountId]],
    done: ({ status }) => (status === 'sent' ? t`Recorded as sent.` : t`Recorded as not sent.`),
  })
  if (!canChange) return null
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" loading={resolve.isPending} onClick={() => resolve.mutate('sent')}>
        <Trans>It was sent</Trans>
      </Button>
      <Button size="xs" variant="default" loading={resolve.isPending} onClick={() => resolve.mutate('failed')}>
        <Trans>It was not sent</Trans>
      </Button>
    </Group>
  )
}
