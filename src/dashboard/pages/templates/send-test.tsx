import { Alert, Anchor, Box, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconCircleCheck, IconSend } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { SentMessage } from '../../../../contracts/message.ts'
import { useAccount, viewersHint } from '../../session/account.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'

interface SendTestProps {
  sendable: boolean
  /** What Mantine's form gives the field of the number. */
  field: object
  pending: boolean
  sent: SentMessage | undefined
  problem: string | undefined
}

/** The part of the form that sends. */
export function SendTest({ sendable, field, pending, sent, problem }: SendTestProps) {
  const { accountId, canChange } = useAccount()
  return (
    <Box component="section">
      <Title order={3} mb={4}>
        Send a test
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        This is a real message, from your own WhatsApp number, and WhatsApp may charge for it.
      </Text>
      <Stack gap="sm" align="stretch">
        <TextInput
          label="A phone number of your own"
          description="Country code, then the number, such as 34600111222."
          type="tel"
          autoComplete="tel"
          disabled={!canChange || !sendable}
          {...field}
        />
        <Box>
          <ChangeButton type="submit" leftSection={<IconSend size={16} />} loading={pending} disabled={!sendable}>
            Send test
          </ChangeButton>
        </Box>
        {!canChange && (
          <Text size="sm" c="dimmed">
            {viewersHint}, or send a test.
          </Text>
        )}
        {problem !== undefined && <ErrorAlert title="The test was not sent" error={problem} />}
        {sent && (
          <Alert icon={<IconCircleCheck />} title="WhatsApp accepted the message" role="status">
            <Anchor component={Link} to={`/${accountId}/messages/${sent.messageId}`} size="sm">
              See what becomes of it
            </Anchor>
          </Alert>
        )}
      </Stack>
    </Box>
  )
}
