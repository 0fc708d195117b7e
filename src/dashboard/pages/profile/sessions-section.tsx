import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Session } from '../../../../contracts/dashboard/session.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { say } from '../../language/facts.ts'
import { LabelBadge } from '../../ui/badges.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { ItemsSkeleton } from '../../ui/skeletons.tsx'

export const sessionsKey = ['sessions']

export function SessionsSection() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => api.session.list.query({}, { signal }),
  })
  const revokeOthers = useChange({
    change: () => api.session.revokeOthers.mutate({}),
    invalidates: [sessionsKey],
    done: t`All other sessions have ended.`,
  })
  const hasOthers = data?.items.some(({ current }) => !current) === true
  return (
    <Section
      title={t`Sessions`}
      description={t`Where you are signed in. A session ends one week after sign-in. If you do not recognise one, end it and change your password.`}
      actions={
        hasOthers && (
          <Button variant="default" loading={revokeOthers.isPending} onClick={() => revokeOthers.mutate()}>
            <Trans>End all other sessions</Trans>
          </Button>
        )
      }
    >
      {isPending && <ItemsSkeleton items={2} />}
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
  const { sessionId, address, signedInAt, lastSeenAt, current } = session
  const device = say(session, 'device')
  const revoke = useChange({
    change: () => api.session.revoke.mutate({ sessionId }),
    invalidates: [sessionsKey],
    done: t`Session ended.`,
  })
  return (
    <Box component="li" py="sm" style={isFirst ? {} : { borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <Group justify="space-between" gap="sm">
        <Box flex={1} miw={200}>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {device}
            </Text>
            {current && (
              <LabelBadge>
                <Trans>This session</Trans>
              </LabelBadge>
            )}
          </Group>
          <Text component="div" size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            <Trans>
              {address}, last seen <DateTime at={lastSeenAt} />, signed in <DateTime at={signedInAt} />
            </Trans>
          </Text>
        </Box>
        {!current && (
          <Button
            variant="default"
            loading={revoke.isPending}
            onClick={() => revoke.mutate()}
            aria-label={t`End the session of ${device} from ${address}`}
          >
            <Trans>End session</Trans>
          </Button>
        )}
      </Group>
    </Box>
  )
}
