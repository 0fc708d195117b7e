import { type MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useState } from 'react'
import { translate } from '../../language/i18n.ts'
import { deliveryStates, type Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { usePages } from '../../api/use-log.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton, TextLink } from '../../ui/button.tsx'
import { Section, useHashTarget } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton, LoadMore } from '../../ui/placeholders.tsx'
import { DeliveryList, deliveryStateNames } from './delivery-list.tsx'
import { webhooksKey } from './use-endpoints.ts'

type Shown = (typeof deliveryStates)[number] | 'all'

const refreshMilliseconds = 4_000
/** Large enough to show groups of similar deliveries. */
const pageSize = 50

function listOptions(): { value: Shown; label: string }[] {
  return [
    { value: 'all', label: t`All` },
    ...deliveryStates.map((state) => ({ value: state, label: translate(deliveryStateNames[state]) })),
  ]
}

/** Texts for empty lists. */
const emptyTexts = {
  all: msg`No deliveries yet.`,
  waiting: msg`No waiting deliveries.`,
  delivered: msg`No delivered deliveries.`,
  failed: msg`No failed deliveries.`,
} satisfies Record<Shown, MessageDescriptor>

interface DeliveriesSectionProps {
  endpoint: Endpoint
  onRedeliver: () => void
}

export function DeliveriesSection({ endpoint: { endpointId, waiting }, onRedeliver }: DeliveriesSectionProps) {
  const { accountId } = useAccount()
  const [shown, setShown] = useState<Shown>('all')
  const log = useDeliveries(accountId, endpointId, shown)
  useHashTarget(log.isSuccess)
  const deliveries = log.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Section
      id="deliveries"
      title={t`Deliveries`}
      description={t`Newest first. Deliveries of an hour with the same type and answer share a row.`}
      actions={
        <>
          <SegmentedControl size="xs" aria-label={t`State`} data={listOptions()} value={shown} onChange={setShown} />
          <ChangeButton size="xs" variant="default" icon={IconRefresh} onClick={onRedeliver}>
            <Trans>Redeliver…</Trans>
          </ChangeButton>
        </>
      }
    >
      {log.isPending && <LoadingSkeleton />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => log.refetch()} />}
      {log.isSuccess && !log.isPlaceholderData && deliveries.length === 0 && (
        <NoDeliveries shown={shown} waiting={waiting} onShowWaiting={() => setShown('waiting')} />
      )}
      {deliveries.length > 0 && (
        <DeliveryList
          isGrouped
          deliveries={deliveries}
          invalidates={[webhooksKey(accountId)]}
          about={({ messageId }) =>
            messageId !== undefined && (
              <TextLink to={`/${accountId}/messages/${messageId}`} size="sm">{t`View message`}</TextLink>
            )
          }
        />
      )}
      <LoadMore query={log} />
    </Section>
  )
}

/** Deliveries of a failing endpoint are waiting, not failed, until their last attempt. */
function NoDeliveries({ shown, waiting, onShowWaiting }: { shown: Shown; waiting: number; onShowWaiting: () => void }) {
  if (shown !== 'failed' || waiting === 0)
    return (
      <Text size="sm" c="dimmed" py="sm">
        {translate(emptyTexts[shown])}
      </Text>
    )
  return (
    <Group gap="sm" py="sm">
      <Text size="sm" c="dimmed">
        {plural(waiting, {
          one: 'None has failed for good; # is waiting for its next attempt.',
          other: 'None has failed for good; # are waiting for their next attempt.',
        })}
      </Text>
      <Button size="xs" variant="default" onClick={onShowWaiting}>{t`Show waiting`}</Button>
    </Group>
  )
}

/** Refreshes while only the first page is loaded. */
function useDeliveries(accountId: string, endpointId: string, shown: Shown) {
  const input = { accountId, endpointId, limit: pageSize, ...(shown !== 'all' && { state: shown }) }
  return usePages(
    [...webhooksKey(accountId), 'deliveries', endpointId, shown],
    (page, options) => api.webhook.deliveries.query({ ...input, ...page }, options),
    { refreshMilliseconds },
  )
}
