import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Facts } from '../../ui/facts.tsx'
import { EventBadges } from './endpoint-card.tsx'
import { countWaiting } from './endpoint-state.tsx'
import { EndpointUrl } from './endpoint-url.tsx'

export function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const { endpointId, url, events, hasHeaders, lastDeliveredAt, waiting, createdAt } = endpoint
  return (
    <Facts
      facts={[
        { name: 'URL', value: <Url url={url} /> },
        { name: 'Events', value: <EventBadges events={events} /> },
        {
          name: 'Delivered',
          value: lastDeliveredAt === undefined ? <Dimmed>Nothing lately</Dimmed> : <DateTime at={lastDeliveredAt} />,
        },
        { name: 'Waiting', value: waiting === 0 ? <Dimmed>Nothing</Dimmed> : countWaiting(waiting) },
        ...(hasHeaders
          ? [{ name: 'Headers', value: 'Header fields that whoever runs this server has set are sent along.' }]
          : []),
        { name: 'Added', value: <DateTime at={createdAt} /> },
        { name: 'ID', value: <Copyable label="endpoint ID" value={endpointId} /> },
      ]}
    />
  )
}

function Url({ url }: { url: string }) {
  const [shown, setShown] = useState(false)
  const hasQuery = new URL(url).search !== ''
  return (
    <Group gap="xs">
      <EndpointUrl url={url} showQuery={shown} />
      {hasQuery && (
        <Button size="compact-xs" variant="default" onClick={() => setShown(!shown)}>
          {shown ? 'Hide the query' : 'Show the query'}
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
