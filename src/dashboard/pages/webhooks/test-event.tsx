import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Box, Code, Text } from '@mantine/core'
import { IconAlertCircle, IconCheck, IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { describeDuration } from '../../ui/time.ts'
import { ResponseDetails } from './delivery-list.tsx'

type TestResult = Awaited<ReturnType<typeof api.webhook.test.mutate>>

/** Sends a test event on request, and keeps its result. */
function useTestEvent({ endpointId }: Endpoint) {
  const { accountId } = useAccount()
  const [result, setResult] = useState<TestResult>()
  const { mutate, isPending } = useChange({
    change: () => api.webhook.test.mutate({ accountId, endpointId }),
    invalidates: [],
    onDone: setResult,
  })
  return { mutate, isPending, result }
}

export function TestSection({ endpoint }: { endpoint: Endpoint }) {
  const test = useTestEvent(endpoint)
  return (
    <Section
      title={t`Test`}
      description={
        <Trans>
          Sends one signed <Code>webhook.test</Code> event and shows the response. Tests are not listed in the
          deliveries, and a failed test does not affect the endpoint.
        </Trans>
      }
      actions={<ChangeButton variant="default" icon={IconSend} change={test}>{t`Send test event`}</ChangeButton>}
    >
      {test.result && <TestResultAlert result={test.result} />}
    </Section>
  )
}

/** Tests before a redelivery whether the endpoint works again. */
export function TestBeforehand({ endpoint }: { endpoint: Endpoint }) {
  const test = useTestEvent(endpoint)
  return (
    <>
      <ChangeButton size="xs" variant="default" mt="xs" change={test}>{t`Send test event`}</ChangeButton>
      {test.result && (
        <Box mt="xs" role="status">
          <Text size="sm">
            {test.result.delivered ? (
              <Trans>Test event delivered. The endpoint works again.</Trans>
            ) : (
              t`Test event not delivered: ${describeTestAnswer(test.result)}`
            )}
          </Text>
          {!test.result.delivered && <ResponseDetails attempt={test.result} />}
        </Box>
      )}
    </>
  )
}

function describeTestAnswer({ statusCode, durationMilliseconds }: TestResult): string {
  const answer = statusCode === undefined ? t`No response` : `HTTP ${statusCode}`
  return t`${answer} after ${describeDuration(durationMilliseconds)}.`
}

function TestResultAlert({ result }: { result: TestResult }) {
  const { delivered, eventId } = result
  return (
    <Alert
      role="status"
      color={delivered ? 'waybill' : 'red'}
      icon={delivered ? <IconCheck /> : <IconAlertCircle />}
      title={delivered ? t`Test event delivered` : t`Test event not delivered`}
    >
      <Text size="sm">{describeTestAnswer(result)}</Text>
      <ResponseDetails attempt={result} />
      <Box mt={6} fz="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        <Trans>webhook-id {eventId}</Trans>
      </Box>
    </Alert>
  )
}
