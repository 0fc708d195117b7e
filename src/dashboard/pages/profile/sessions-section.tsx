import { Box, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Session } from '../../../../contracts/dashboard/session.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'

export const sessionsKey = ['sessions']

export function SessionsSection() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => api.session.list.query({}, { signal }),
  })
  const revokeOthers = useChange({
    change: () => api.session.revokeOthers.mutate({}),
    invalidates: [sessionsKey],
    done: 'All other sessions have ended.',
  })
  const hasOthers = data?.items.some(({ current }) => !current) === true
  return (
    <Section
      title="Sessions"
      description="Where you are signed in. A session ends one week after sign-in. If you do not recognise one, end it and change your password."
      actions={
        hasOthers && (
          <Button variant="default" loading={revokeOthers.isPending} onClick={() => revokeOthers.mutate()}>
            End all other sessions
          </Button>
        )
      }
    >
      {isPending && <LoadingSkeleton />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      <Box component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {data?.items.map((session, index) => (
          <SessionRow key={session.sessionId} session={session} isFirst={index === 0} />
        ))}
      </Box>
    </Section>
  )
}

function SessionRow({ session, isFirst }: { session: Session; isFirst: boolean }) {
  const { sessionId, device, address, signedInAt, lastSeenAt, current } = session
  const revoke = useChange({
    change: () => api.session.revoke.mutate({ sessionId }),
    invalidates: [sessionsKey],
    done: 'Session ended.',
  })
  return (
    <Box component="li" py="sm" style={isFirst ? {} : { borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <Group justify="space-between" gap="sm">
        <Box flex={1} miw={200}>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {device}
            </Text>
            {current && <StatusBadge tone="active">This session</StatusBadge>}
          </Group>
          <Text component="div" size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {address}, last seen <DateTime at={lastSeenAt} />, signed in <DateTime at={signedInAt} />
          </Text>
        </Box>
        {!current && (
          <Button
            variant="default"
            loading={revoke.isPending}
            onClick={() => revoke.mutate()}
            aria-label={`End the session of ${device} from ${address}`}
          >
            End session
          </Button>
        )}
      </Group>
    </Box>
  )
}
