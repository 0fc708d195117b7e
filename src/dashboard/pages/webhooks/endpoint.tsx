import { Alert, Anchor, Badge, Box, Group, Paper, Text } from '@mantine/core'
import { IconAlertTriangle, IconPlayerPause } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { toSentence } from './delivery-list.tsx'

/** An endpoint in the list, with its state. */
export function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const { endpointId, url, events, description, reason, failingSince, lastDeliveredAt, waiting } = endpoint
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }} component="article" aria-label={`Endpoint ${new URL(url).host}`}>
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
        <Anchor component={Link} to={endpointId} c="var(--mantine-color-text)" underline="hover" miw={0}>
          <EndpointUrl url={url} />
        </Anchor>
        <Box style={{ flexShrink: 0 }}>
          <EndpointBadge endpoint={endpoint} />
        </Box>
      </Group>
      {description !== undefined && (
        <Text size="sm" mt={2} style={{ overflowWrap: 'anywhere' }}>
          {description}
        </Text>
      )}
      {reason !== undefined && (
        <Text size="sm" mt={2}>
          {toSentence(reason)}
        </Text>
      )}
      <Box mt="xs">
        <EventBadges events={events} />
      </Box>
      <Group gap="4px 24px" mt="sm" fz="sm" c="dimmed">
        <span>
          {lastDeliveredAt === undefined ? (
            'No recent deliveries'
          ) : (
            <>
              Last delivery <DateTime at={lastDeliveredAt} />
            </>
          )}
        </span>
        {waiting > 0 && <span>{countWaiting(waiting)} waiting</span>}
        {failingSince !== undefined && (
          <span>
            Failing since <DateTime at={failingSince} />
          </span>
        )}
      </Group>
    </Paper>
  )
}

export function EventBadges({ events }: Pick<Endpoint, 'events'>) {
  return (
    <Group gap={6}>
      {events.map((type) => (
        <Badge key={type} variant="default" tt="none" fw={500} radius="sm" ff="monospace">
          {type}
        </Badge>
      ))}
    </Group>
  )
}

export function EndpointBadge({ endpoint: { state, failingSince } }: { endpoint: Endpoint }) {
  if (state === 'disabled') return <StatusBadge tone="neutral">Disabled</StatusBadge>
  if (failingSince !== undefined) return <StatusBadge tone="bad">Failing</StatusBadge>
  return <StatusBadge tone="good">Enabled</StatusBadge>
}

/** Why deliveries do not arrive; nothing if they do. */
export function EndpointAlert({ endpoint: { state, reason, failingSince, waiting } }: { endpoint: Endpoint }) {
  if (state === 'disabled')
    return (
      <Alert color="gray" icon={<IconPlayerPause />} title="This endpoint is disabled" mb="lg">
        <Text size="sm">
          {reason !== undefined && `${toSentence(reason)} `}
          New events are queued and delivered once it is enabled.
        </Text>
      </Alert>
    )
  if (failingSince === undefined) return null
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="Deliveries are failing" mb="lg">
      <Text size="sm">
        All attempts have failed since <DateTime at={failingSince} />.{' '}
        {waiting > 0 && `${countWaiting(waiting)} will be retried. `}
        The deliveries below show your application’s responses. After five days without a successful delivery, the
        endpoint is disabled.
      </Text>
    </Alert>
  )
}

export function countWaiting(count: number): string {
  return count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`
}

interface EndpointUrlProps {
  url: string
  /** The query string often contains a token, so it is hidden by default. */
  showQuery?: boolean
}

/** Highlights the host, which distinguishes endpoints. */
export function EndpointUrl({ url, showQuery = false }: EndpointUrlProps) {
  const { protocol, host, pathname, search } = new URL(url)
  return (
    <span style={{ overflowWrap: 'anywhere' }}>
      <Text span inherit c="dimmed">
        {protocol}
        {'//'}
      </Text>
      <Text span inherit fw={650}>
        {host}
      </Text>
      {pathname !== '/' && pathname}
      {search !== '' && (
        <Text
          span
          inherit
          c="dimmed"
          {...(!showQuery && { title: 'The query string is hidden because it may contain a token.' })}
        >
          {showQuery ? search : '?…'}
        </Text>
      )}
    </span>
  )
}

export function hostOf(url: string): string {
  return new URL(url).host
}
