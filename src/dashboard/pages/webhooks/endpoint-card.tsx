import { Anchor, Badge, Box, Group, Paper, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { toSentence } from './attempt-list.tsx'
import { countWaiting, EndpointBadge } from './endpoint-state.tsx'
import { EndpointUrl } from './endpoint-url.tsx'

/** One endpoint of the list: what it is, and how it does. */
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
            'Nothing delivered lately'
          ) : (
            <>
              Last delivered <DateTime at={lastDeliveredAt} />
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
