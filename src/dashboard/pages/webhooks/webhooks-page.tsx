import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert } from '../../ui/placeholders.tsx'
import { CardsSkeleton } from '../../ui/skeletons.tsx'
import { AddEndpointModal } from './add-endpoint-modal.tsx'
import { EndpointCard, isFailing } from './endpoint.tsx'
import { useActivity, useEndpoints } from './use-endpoints.ts'

/** Failing endpoints first; otherwise the order is kept. */
function failingFirst(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.toSorted((one, other) => Number(isFailing(other)) - Number(isFailing(one)))
}

export function WebhooksPage() {
  const { accountId } = useAccount()
  const { data, error, isPending, refetch } = useEndpoints(accountId)
  const activity = useActivity(accountId)
  const [adding, { open, close }] = useDisclosure()
  const addButton = <ChangeButton icon={IconPlus} onClick={open}>{t`Add endpoint`}</ChangeButton>
  const isEmpty = data?.items.length === 0
  return (
    <>
      <PageHeader
        title={t`Webhooks`}
        description={t`Waybill sends message events to these endpoints as signed HTTP requests.`}
        actions={!isEmpty && addButton}
      />
      {isPending && <CardsSkeleton lines={3} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {isEmpty && (
        <EmptyState icon={IconWebhook} title={t`No endpoints yet`} action={addButton}>
          <Trans>
            Add a URL of your application that receives events. Earlier events can be recovered after you add it.
          </Trans>
        </EmptyState>
      )}
      <Stack gap="sm">
        {failingFirst(data?.items ?? []).map((endpoint) => (
          <EndpointCard key={endpoint.endpointId} endpoint={endpoint} activity={activity.data} />
        ))}
      </Stack>
      <AddEndpointModal opened={adding} onClose={close} />
    </>
  )
}
