import { Alert, Anchor, Box, Button, Code, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertCircle, IconArrowLeft, IconCheck, IconPencil, IconSend, IconWebhookOff } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useParams } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { DescriptionList } from '../../ui/description-list.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { describeDuration } from '../../ui/time.ts'
import { ActivitySection } from './activity-section.tsx'
import { DeliveriesSection } from './deliveries-section.tsx'
import { ResponseDetails } from './delivery-list.tsx'
import { EditEndpointModal } from './edit-endpoint-modal.tsx'
import { EndpointActions, RemoveSection } from './endpoint-actions.tsx'
import { countWaiting, EndpointBadge, EndpointAlert, EndpointUrl, EventBadges, hostOf } from './endpoint.tsx'
import { RedeliverModal, type RedeliveryStart } from './redeliver-modal.tsx'
import { SecretSection } from './secret-section.tsx'
import { useEndpoints } from './use-endpoints.ts'

export function WebhookPage() {
  const { accountId } = useAccount()
  const { endpointId } = useParams()
  const { data, error, refetch } = useEndpoints(accountId)
  const endpoint = data?.items.find((endpoint) => endpoint.endpointId === endpointId)
  return (
    <>
      <Anchor component={Link} to={`/${accountId}/webhooks`} size="sm" underline="hover" display="inline-flex" mb="xs">
        <IconArrowLeft size={16} style={{ marginInlineEnd: 4, marginBlock: 'auto' }} aria-hidden />
        Webhooks
      </Anchor>
      <PageHeader
        title={endpoint ? hostOf(endpoint.url) : 'Webhook endpoint'}
        description={endpoint?.description}
        actions={endpoint && <EndpointActions endpoint={endpoint} />}
      />
      {endpoint && <OpenEndpoint key={endpoint.endpointId} endpoint={endpoint} />}
      {!data && error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {!data && !error && <LoadingSkeleton lines={8} />}
      {data && !endpoint && <EndpointNotFound />}
    </>
  )
}

function OpenEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const [redelivering, setRedelivering] = useState<RedeliveryStart>()
  return (
    <>
      <EndpointAlert endpoint={endpoint} />
      <Section
        title="Details"
        actions={
          <>
            <EndpointBadge endpoint={endpoint} />
            <EditEndpoint endpoint={endpoint} />
          </>
        }
      >
        <EndpointDetails endpoint={endpoint} />
      </Section>
      <ActivitySection endpoint={endpoint} onRedeliver={setRedelivering} />
      <DeliveriesSection endpoint={endpoint} onRedeliver={() => setRedelivering({})} />
      <TestSection endpoint={endpoint} />
      <SecretSection endpoint={endpoint} />
      <RemoveSection endpoint={endpoint} />
      <RedeliverModal endpoint={endpoint} start={redelivering} onClose={() => setRedelivering(undefined)} />
    </>
  )
}

function EditEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <ChangeButton size="xs" variant="default" leftSection={<IconPencil size={14} />} onClick={open}>
        Edit
      </ChangeButton>
      <EditEndpointModal endpoint={endpoint} opened={opened} onClose={close} />
    </>
  )
}

function EndpointNotFound() {
  const { accountId } = useAccount()
  return (
    <EmptyState
      icon={IconWebhookOff}
      title="Endpoint not found"
      action={
        <Button component={Link} to={`/${accountId}/webhooks`} variant="default">
          Show all endpoints
        </Button>
      }
    >
      Check the address. The endpoint may have been removed.
    </EmptyState>
  )
}

function EndpointDetails({ endpoint }: { endpoint: Endpoint }) {
  const { endpointId, url, events, hasHeaders, lastDeliveredAt, waiting, createdAt } = endpoint
  const limits = describeLimits(endpoint)
  return (
    <DescriptionList
      items={[
        { name: 'URL', value: <Url url={url} /> },
        { name: 'Events', value: <EventBadges events={events} /> },
        {
          name: 'Last delivery',
          value: lastDeliveredAt === undefined ? <Dimmed>None recently</Dimmed> : <DateTime at={lastDeliveredAt} />,
        },
        { name: 'Waiting', value: waiting === 0 ? <Dimmed>None</Dimmed> : countWaiting(waiting) },
        ...(limits === undefined ? [] : [{ name: 'Limits', value: limits }]),
        ...(hasHeaders
          ? [{ name: 'Headers', value: 'Custom headers are sent with each request. Their values are not shown.' }]
          : []),
        { name: 'Added', value: <DateTime at={createdAt} /> },
        { name: 'ID', value: <Copyable label="endpoint ID" value={endpointId} /> },
      ]}
    />
  )
}

function describeLimits({ maxPerSecond, maxConcurrent }: Endpoint): string | undefined {
  const limits = [
    ...(maxPerSecond === undefined ? [] : [`${maxPerSecond} per second`]),
    ...(maxConcurrent === undefined ? [] : [`${maxConcurrent} concurrent`]),
  ]
  return limits.length === 0 ? undefined : limits.join(', ')
}

function Url({ url }: { url: string }) {
  const [shown, setShown] = useState(false)
  const hasQuery = new URL(url).search !== ''
  return (
    <Group gap="xs">
      <EndpointUrl url={url} showQuery={shown} />
      {hasQuery && (
        <Button size="compact-xs" variant="default" onClick={() => setShown(!shown)}>
          {shown ? 'Hide query' : 'Show query'}
        </Button>
      )}
    </Group>
  )
}

function Dimmed({ children }: { children: string }) {
  return (
    <Text span inherit c="dimmed">
      {children}
    </Text>
  )
}

type TestResult = Awaited<ReturnType<typeof api.webhook.test.mutate>>

function TestSection({ endpoint: { endpointId } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [result, setResult] = useState<TestResult>()
  const test = useChange({
    change: () => api.webhook.test.mutate({ accountId, endpointId }),
    invalidates: [],
    onDone: setResult,
  })
  return (
    <Section
      title="Test"
      description={
        <>
          Sends one signed <Code>webhook.test</Code> event and shows the response. Tests are not listed in the
          deliveries, and a failed test does not affect the endpoint.
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
      {result && <TestResultAlert result={result} />}
    </Section>
  )
}

function TestResultAlert({ result }: { result: TestResult }) {
  const { delivered, statusCode, durationMilliseconds, eventId } = result
  const answer = statusCode === undefined ? 'No response' : `HTTP ${statusCode}`
  return (
    <Alert
      role="status"
      color={delivered ? 'waybill' : 'red'}
      icon={delivered ? <IconCheck /> : <IconAlertCircle />}
      title={delivered ? 'Test event delivered' : 'Test event not delivered'}
    >
      <Text size="sm">
        {answer} after {describeDuration(durationMilliseconds)}.
      </Text>
      <ResponseDetails answer={result} />
      <Box mt={6} fz="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        webhook-id {eventId}
      </Box>
    </Alert>
  )
}
