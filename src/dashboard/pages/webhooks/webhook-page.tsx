import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPencil, IconWebhookOff } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useParams } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton, LinkButton } from '../../ui/button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { DescriptionList } from '../../ui/lists.tsx'
import { BackLink, PageHeader, Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert } from '../../ui/placeholders.tsx'
import { CardsSkeleton } from '../../ui/skeletons.tsx'
import { ActivitySection } from './activity-section.tsx'
import { DeliveriesSection } from './deliveries-section.tsx'
import { EditEndpointModal } from './edit-endpoint-modal.tsx'
import { EndpointActions, RemoveSection } from './endpoint-actions.tsx'
import { countWaiting, EndpointBadge, EndpointAlert, EndpointUrl, EventBadges, hostOf } from './endpoint.tsx'
import { RedeliverModal, type RedeliveryStart } from './redeliver-modal.tsx'
import { SecretSection } from './secret-section.tsx'
import { TestSection } from './test-event.tsx'
import { useEndpoints } from './use-endpoints.ts'

export function WebhookPage() {
  const { accountId } = useAccount()
  const { endpointId } = useParams()
  const { data, error, refetch } = useEndpoints(accountId)
  const endpoint = data?.items.find((endpoint) => endpoint.endpointId === endpointId)
  return (
    <>
      <BackLink to={`/${accountId}/webhooks`}>{t`Webhooks`}</BackLink>
      <PageHeader
        title={endpoint ? hostOf(endpoint.url) : t`Webhook endpoint`}
        badge={endpoint && <EndpointBadge endpoint={endpoint} />}
        description={endpoint?.description}
        actions={
          endpoint && (
            <>
              <EditEndpoint endpoint={endpoint} />
              <EndpointActions endpoint={endpoint} />
            </>
          )
        }
      />
      {endpoint && <OpenEndpoint key={endpoint.endpointId} endpoint={endpoint} />}
      {!data && error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {!data && !error && <CardsSkeleton lines={5} />}
      {data && !endpoint && <EndpointNotFound />}
    </>
  )
}

function OpenEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const [redelivering, setRedelivering] = useState<RedeliveryStart>()
  return (
    <>
      <EndpointAlert endpoint={endpoint} />
      <Section title={t`Details`}>
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
      <ChangeButton variant="default" icon={IconPencil} onClick={open}>{t`Edit`}</ChangeButton>
      <EditEndpointModal endpoint={endpoint} opened={opened} onClose={close} />
    </>
  )
}

function EndpointNotFound() {
  const { accountId } = useAccount()
  return (
    <EmptyState
      icon={IconWebhookOff}
      title={t`Endpoint not found`}
      action={<LinkButton to={`/${accountId}/webhooks`} variant="default">{t`Show all endpoints`}</LinkButton>}
    >
      <Trans>Check the address. The endpoint may have been removed.</Trans>
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
        { name: t`Events`, value: <EventBadges events={events} /> },
        {
          name: t`Last success`,
          value:
            lastDeliveredAt === undefined ? (
              <Dimmed>{t`None among the latest deliveries`}</Dimmed>
            ) : (
              <DateTime at={lastDeliveredAt} />
            ),
        },
        {
          name: t`Waiting`,
          value: waiting === 0 ? <Dimmed>{t`None`}</Dimmed> : countWaiting(waiting),
        },
        limits !== undefined && { name: t`Limits`, value: limits },
        hasHeaders && {
          name: t`Headers`,
          value: t`Custom headers are sent with each request. Their values are not shown.`,
        },
        { name: t`Added`, value: <DateTime at={createdAt} /> },
        { name: 'ID', value: <Copyable label={t`endpoint ID`} value={endpointId} /> },
      ]}
    />
  )
}

function describeLimits({ maxPerSecond, maxConcurrent }: Endpoint): string | undefined {
  const limits = [
    ...(maxPerSecond === undefined ? [] : [t`${maxPerSecond} per second`]),
    ...(maxConcurrent === undefined ? [] : [t`${maxConcurrent} concurrent`]),
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
          {shown ? t`Hide query` : t`Show query`}
        </Button>
      )}
    </Group>
  )
}

function Dimmed({ children }: { children: ReactNode }) {
  return (
    <Text span inherit c="dimmed">
      {children}
    </Text>
  )
}
