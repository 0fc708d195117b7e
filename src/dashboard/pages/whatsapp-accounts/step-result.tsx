import { Alert, Box, Stack, Text } from '@mantine/core'
import { IconAlertCircle, IconCircleCheck } from '@tabler/icons-react'
import { t } from '@lingui/core/macro'
import { say } from '../../language/facts.ts'
import type { CallbackStep, ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import { CopyField } from '../../ui/copy.tsx'

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

/** The values that Meta asks for under WhatsApp → Configuration, unabbreviated. */
export function CallbackValues({ enter }: { enter: NonNullable<CallbackStep['enter']> }) {
  const callbackUrl = enter.callbackUrl === undefined ? undefined : toPublic(enter.callbackUrl)
  const { verifyToken, fields } = enter
  return (
    <Stack gap="sm" maw={560}>
      {callbackUrl !== undefined && (
        <CopyField
          wraps
          label={t`Callback URL`}
          value={callbackUrl}
          {...(!callbackUrl.startsWith('https:') && {
            description: t`Meta accepts https addresses only: replace ${new URL(callbackUrl).origin} with the address at which the internet reaches this server.`,
          })}
        />
      )}
      {verifyToken !== undefined && <CopyField wraps label={t`Verify token`} value={verifyToken} />}
      <CopyField
        wraps
        label={t`Webhook fields`}
        description={t`In your Meta app, open WhatsApp → Configuration → Webhook fields, and subscribe to each of these ${fields.length}.`}
        value={fields.join('\n')}
      />
    </Stack>
  )
}

/** The server may not know its https URL, but the browser may be using it. */
function toPublic(callbackUrl: string): string {
  const { pathname, protocol } = new URL(callbackUrl)
  const { origin } = window.location
  return protocol === 'https:' || !origin.startsWith('https:') ? callbackUrl : origin + pathname
}
