import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import type { Message } from '../../../../contracts/api/message.ts'
import type { FailureAdvice } from '../../../../contracts/dashboard/message.ts'

interface WhyItFailedProps {
  error: NonNullable<Message['error']>
  failure?: FailureAdvice
}

/** What happened, what to do, and the code for whoever wants to look it up. */
export function WhyItFailed({ error, failure }: WhyItFailedProps) {
  return (
    <Alert color="red" icon={<IconAlertCircle />} title={failure?.meaning ?? 'The message failed'} mb="lg">
      <Stack gap={6}>
        {failure && <Text size="sm">{failure.advice}</Text>}
        <Text size="xs" c="dimmed">
          {/^\d+$/.test(error.code) ? 'WhatsApp’s code' : 'Code'} {error.code}
          {error.message !== '' && error.message !== failure?.meaning && `: ${error.message}`}
        </Text>
      </Stack>
    </Alert>
  )
}
