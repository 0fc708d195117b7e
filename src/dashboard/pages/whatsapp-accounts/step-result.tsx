import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertCircle, IconCircleCheck } from '@tabler/icons-react'
import type { CallbackStep, ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import { CopyField } from '../../ui/copy.tsx'

/** What WhatsApp answered, and the values to enter at Meta if it has to be done by hand. */
export function StepResult({ result }: { result: ConnectStep & Pick<CallbackStep, 'enter'> }) {
  const { ok, message, fix, enter } = result
  return (
    <Alert
      color={ok ? 'waybill' : 'red'}
      icon={ok ? <IconCircleCheck /> : <IconAlertCircle />}
      role={ok ? 'status' : 'alert'}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
      {fix !== undefined && (
        <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
          {fix}
        </Text>
      )}
      {!ok && enter && (
        <Stack gap="xs" mt="sm">
          {enter.callbackUrl !== undefined && <CopyField label="Callback URL" value={enter.callbackUrl} />}
          {enter.verifyToken !== undefined && <CopyField label="Verify token" value={enter.verifyToken} />}
          <CopyField label="Webhook fields" value={enter.fields.join(', ')} />
        </Stack>
      )}
    </Alert>
  )
}
