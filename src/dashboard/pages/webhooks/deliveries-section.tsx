import { Anchor, SegmentedControl, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { deliveryStates, type Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton, LoadMore } from '../../ui/placeholders.tsx'
import { DeliveryList, deliveryStateNames } from './delivery-list.tsx'
import { webhooksKey } from './use-endpoints.ts'

type Shown = (typeof deliveryStates)[number] | 'all'

const refreshMilliseconds = 4_000
/** Enough that rows that look the same are seen to do so. */
const pageSize = 50
const options = [
  { value: 'all', label: 'All' },
  ...deliveryStates.map((state) => ({ value: state, label: deliveryStateNames[state] })),
] satisfies { value: Shown; label: string }[]

interface DeliveriesSectionProps {
  endpoint: Endpoint
  onRedeliver: () => void
}

export function DeliveriesSection({ endpoint: { endpointId }, onRedeliver }: DeliveriesSectionProps) {
  const { accountId } = useAccount()
  const [shown, setShown] = useState<Shown>('all')
  const log = useDeliveries(accountId, endpointId, shown)
  const deliveries = log.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Section
      title="Deliveries"
      description="Newest first. Deliveries of an hour with the same type and answer share a row."
      actions={
        <>
          <SegmentedControl size="xs" aria-label="State" data={options} value={shown} onChange={setShown} />
          <ChangeButton size="xs" variant="default" leftSection={<IconRefresh size={14} />} onClick={onRedeliver}>
            Redeliver…
          </ChangeButton>
        </>
      }
    >
      {log.isPending && <LoadingSkeleton />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => log.refetch()} />}
      {log.isSuccess && deliveries.length === 0 && (
        <Text size="sm" c="dimmed" py="sm">
          {shown === 'all' ? 'No deliveries yet.' : `No ${deliveryStateNames[shown].toLowerCase()} deliveries.`}
        </Text>
      )}
      {deliveries.length > 0 && (
        <DeliveryList
          isGrouped
          deliveries={deliveries}
          invalidates={[webhooksKey(accountId)]}
          about={({ messageId }) =>
            messageId !== undefined && (
              <Anchor component={Link} to={`/${accountId}/messages/${messageId}`} size="sm">
                View message
              </Anchor>
            )
          }
        />
      )}
      <LoadMore query={log} />
    </Section>
  )
}

/** Refreshes while only the first page is loaded. */
function useDeliveries(accountId: string, endpointId: string, shown: Shown) {
  return useInfiniteQuery({
    queryKey: [...webhooksKey(accountId), 'deliveries', endpointId, shown],
    queryFn: ({ pageParam, signal }) =>
      api.webhook.deliveries.query(
        {
          accountId,
          endpointId,
          limit: pageSize,
          ...(shown !== 'all' && { state: shown }),
          ...(pageParam !== '' && { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 ? refreshMilliseconds : false),
    placeholderData: keepPreviousData,
  })
}
