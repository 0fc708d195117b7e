import { Alert, Box, Code, Text } from '@mantine/core'
import { IconAlertCircle, IconCheck, IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { describeDuration } from '../../ui/describe-duration.ts'
import { Section } from '../../ui/section.tsx'
import { AnswerOf } from './attempt-list.tsx'

type TestResult = Awaited<ReturnType<typeof settings.webhook.test.mutate>>

export function TestSection({ endpoint: { endpointId } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [result, setResult] = useState<TestResult>()
  const test = useChange({
    change: () => settings.webhook.test.mutate({ accountId, endpointId }),
    invalidates: [],
    onDone: setResult,
  })
  return (
    <Section
      title="Test"
      description={
        <>
          Sends one signed <Code>webhook.test</Code> event, at once, and shows what your application answers. It is not
          among the deliveries below, and a failure has no consequence.
        </>
      }
      actions={
        <ChangeButton
          variant="default"
          leftSection={<IconSend size={16} />}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          Send test event
        </ChangeButton>
      }
    >
      {result && <TestAnswer result={result} />}
    </Section>
  )
}

function TestAnswer({ result }: { result: TestResult }) {
  const { delivered, statusCode, durationMilliseconds, eventId } = result
  const answer = statusCode === undefined ? 'No answer' : `Answered HTTP ${statusCode}`
  return (
    <Alert
      role="status"
      color={delivered ? 'waybill' : 'red'}
      icon={delivered ? <IconCheck /> : <IconAlertCircle />}
      title={delivered ? 'The test event was delivered' : 'The test event was not delivered'}
    >
      <Text size="sm">
        {answer} after {describeDuration(durationMilliseconds)}.
      </Text>
      <AnswerOf answer={result} />
      <Box mt={6} fz="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        webhook-id {eventId}
      </Box>
    </Alert>
  )
}
