import { Alert, Box, Text } from '@mantine/core'
import { IconAlertCircle, IconCircleCheck } from '@tabler/icons-react'
import { say } from '../../language/facts.ts'
import type { CallbackStep, ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import { CallbackValues } from './callback-values.tsx'

/** WhatsApp's response, and the values to enter at Meta if they must be entered manually. */
export function StepResult({ result }: { result: ConnectStep & Pick<CallbackStep, 'enter'> }) {
  const { ok, fix, facts, enter } = result
  return (
    <Alert
      color={ok ? 'waybill' : 'red'}
      icon={ok ? <IconCircleCheck /> : <IconAlertCircle />}
      role={ok ? 'status' : 'alert'}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {say(result, 'message')}
      </Text>
      {fix !== undefined && (
        <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
          {say({ fix, facts }, 'fix')}
        </Text>
      )}
      {!ok && enter && (
        <Box mt="sm">
          <CallbackValues enter={enter} />
        </Box>
      )}
    </Alert>
  )
}
