import { t } from '@lingui/core/macro'
import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { say } from '../../../language/facts.ts'
import type { MessageHistory } from './use-message.ts'

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
