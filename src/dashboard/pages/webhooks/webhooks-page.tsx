import { Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { AddEndpointModal } from './add-endpoint-modal.tsx'
import { EndpointCard } from './endpoint.tsx'
import { useActivity, useEndpoints } from './use-endpoints.ts'

export function WebhooksPage() {
  const { accountId } = useAccount()
  const { data, error, isPending, refetch } = useEndpoints(accountId)
  const activity = useActivity(accountId)
  const [adding, { open, close }] = useDisclosure()
  const addButton = (
    <ChangeButton leftSection={<IconPlus size={16} />} onClick={open}>
      Add endpoint
    </ChangeButton>
  )
  const isEmpty = data?.items.length === 0
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Waybill sends message events to these endpoints as signed HTTP requests."
        actions={!isEmpty && addButton}
      />
      {isPending && <LoadingSkeleton lines={6} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {isEmpty && (
        <EmptyState icon={IconWebhook} title="No endpoints yet" action={addButton}>
          Add a URL of your application that receives events. Earlier events can be recovered after you add it.
        </EmptyState>
      )}
      <Stack gap="sm">
        {data?.items.map((endpoint) => (
          <EndpointCard key={endpoint.endpointId} endpoint={endpoint} activity={activity.data} />
        ))}
      </Stack>
      <AddEndpointModal opened={adding} onClose={close} />
    </>
  )
}
