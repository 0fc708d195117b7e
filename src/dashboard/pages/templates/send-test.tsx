import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Box, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconAlertCircle, IconCircleCheck, IconClock, IconSend } from '@tabler/icons-react'
import { say } from '../../language/facts.ts'
import type { SentTest } from '../../../../contracts/dashboard/template.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { CostEstimateText } from '../../ui/cost-estimate.tsx'
import { SendErrorAlert } from '../../ui/form.tsx'
import { NumberSuggestion, SentMessage, useTestMessage } from '../whatsapp-accounts/test-step.tsx'
import { withoutPunctuation } from '../../ui/phone-number.ts'
import { SandboxRecipientSelect } from './sandbox-recipient-select.tsx'

interface SendTestProps {
  sendable: boolean
  /** The input props of the phone number from the Mantine form. */
  field: object
  onChooseRecipient: (to: string) => void
  typed: string
  category: string | undefined
  pending: boolean
  sent: SentTest | undefined
  /** Why no message was created. */
  problem: string | undefined
  error: unknown
}

/** The test section of the template form. */
export function SendTest({
  sendable,
  field,
  onChooseRecipient,
  typed,
  category,
  pending,
  sent,
  problem,
  error,
}: SendTestProps) {
  const { canChange } = useAccount()
  const { sandbox } = useUser()
  return (
    <Box component="section">
      <Title order={3} mb={4}>{t`Test message`}</Title>
      <Text size="sm" c="dimmed" mb="sm">
        {sandbox
          ? t`WhatsApp is simulated here: the message reaches no phone and costs nothing.`
          : t`Sends a real message from your WhatsApp number. WhatsApp may charge for it.`}
      </Text>
      <Stack gap="sm" align="stretch">
        <TextInput
          label={t`Your phone number`}
          description={t`With the country code, such as +34600111222.`}
          type="tel"
          autoComplete="tel"
          disabled={!canChange || !sendable}
          {...field}
        />
        <NumberSuggestion typed={typed} onAccept={onChooseRecipient} />
        <SandboxRecipientSelect disabled={!canChange || !sendable} onChoose={onChooseRecipient} />
        <CostEstimateText to={withoutPunctuation(typed)} category={category} />
        <Box>
          <ChangeButton type="submit" icon={IconSend} loading={pending} disabled={!sendable}>
            <Trans>Send test</Trans>
          </ChangeButton>
        </Box>
        {!canChange && <Text size="sm" c="dimmed">{t`Viewers cannot send test messages.`}</Text>}
        <SendErrorAlert title={t`Test not sent`} problem={problem} error={error} />
        {sent && <SentTestAlert test={sent} />}
      </Stack>
    </Box>
  )
}

/** Follows the status, because WhatsApp can report a failure after it accepted the message. */
function SentTestAlert({ test }: { test: SentTest }) {
  const history = useTestMessage(test.messageId)
  const failure = history?.failure ?? test.failure
  const message = <SentMessage messageId={test.messageId} />
  switch (history?.message.status ?? test.status) {
    case 'sent':
    case 'delivered':
    case 'read':
      return (
        <Alert icon={<IconCircleCheck />} title={t`WhatsApp accepted the message`} role="status">
          {message}
        </Alert>
      )
    case 'failed':
      return (
        <Alert color="red" icon={<IconAlertCircle />} title={failure ? say(failure, 'meaning') : t`The message failed`}>
          {failure && (
            <Text size="sm" mb={6}>
              {say(failure, 'advice')}
            </Text>
          )}
          {message}
        </Alert>
      )
    case 'pending':
      return (
        <Alert color="yellow" icon={<IconClock />} title={t`No response from WhatsApp`}>
          <Text size="sm" mb={6}>
            <Trans>The message may or may not have been sent. Check its status before you send another.</Trans>
          </Text>
          {message}
        </Alert>
      )
  }
}
