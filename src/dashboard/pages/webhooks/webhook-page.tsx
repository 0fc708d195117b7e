import { Anchor, Button } from '@mantine/core'
import { IconArrowLeft, IconWebhookOff } from '@tabler/icons-react'
import { Link, useParams } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { useAccount } from '../../session/account.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Section } from '../../ui/section.tsx'
import { DeliveriesSection } from './deliveries-section.tsx'
import { EndpointActions } from './endpoint-actions.tsx'
import { EndpointFacts } from './endpoint-facts.tsx'
import { EndpointBadge, EndpointTrouble } from './endpoint-state.tsx'
import { hostOf } from './endpoint-url.tsx'
import { RecoverSection } from './recover-section.tsx'
import { RemoveSection } from './remove-section.tsx'
import { SecretSection } from './secret-section.tsx'
import { TestSection } from './test-section.tsx'
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
      {!data && error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingSkeleton lines={8} />}
      {data && !endpoint && <NoSuchEndpoint />}
    </>
  )
}

function OpenEndpoint({ endpoint }: { endpoint: Endpoint }) {
  return (
    <>
      <EndpointTrouble endpoint={endpoint} />
      <Section title="About the endpoint" actions={<EndpointBadge endpoint={endpoint} />}>
        <EndpointFacts endpoint={endpoint} />
      </Section>
      <TestSection endpoint={endpoint} />
      <SecretSection endpoint={endpoint} />
      <DeliveriesSection endpoint={endpoint} />
      <RecoverSection endpoint={endpoint} />
      <RemoveSection endpoint={endpoint} />
    </>
  )
}

function NoSuchEndpoint() {
  const { accountId } = useAccount()
  return (
    <EmptyState
      icon={IconWebhookOff}
      title="There is no such endpoint"
      action={
        <Button component={Link} to={`/${accountId}/webhooks`} variant="default">
          Show all endpoints
        </Button>
      }
    >
      The address may be mistyped, or the endpoint was removed.
    </EmptyState>
  )
}
