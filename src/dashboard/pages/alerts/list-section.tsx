import { Anchor, Group, Stack, Text } from '@mantine/core'
import { IconBellOff } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { Alert } from '../../../../contracts/dashboard/alert.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ChangeButton } from '../../ui/change-button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { alertsKey, useAlerts } from './use-alerts.ts'

export function ListSection() {
  const { data, error, isPending, refetch } = useAlerts()
  return (
    <Section title="Open and recent alerts" description="Resolved alerts are kept for 30 days.">
      {isPending && <LoadingSkeleton lines={3} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {data?.items.length === 0 && (
        <EmptyState icon={IconBellOff} title="No alerts">
          Problems with WhatsApp accounts, templates, messages and webhooks appear here.
        </EmptyState>
      )}
      <Stack gap="lg" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {data?.items.map((alert) => (
          <AlertItem key={alert.alertId} alert={alert} />
        ))}
      </Stack>
    </Section>
  )
}

function AlertItem({ alert }: { alert: Alert }) {
  const { accountId } = useAccount()
  const { title, body, page, openedAt, sentAt, acknowledgedBy, acknowledgedAt, recoveredAt } = alert
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="md">
      <Stack gap={4} flex={1} miw={240}>
        <Group gap="xs">
          <StateBadge alert={alert} />
          <Anchor component={Link} to={`/${accountId}/${page}`} size="sm" fw={600}>
            {title}
          </Anchor>
        </Group>
        <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
          {body}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          Since <DateTime at={openedAt} />
          {recoveredAt !== undefined && (
            <>
              {' · resolved '}
              <DateTime at={recoveredAt} />
            </>
          )}
          {acknowledgedAt !== undefined && (
            <>
              {` · acknowledged by ${acknowledgedBy ?? 'operator'} `}
              <DateTime at={acknowledgedAt} />
            </>
          )}
          {sentAt === undefined && recoveredAt === undefined && ' · waits for the end of quiet hours'}
        </Text>
      </Stack>
      {acknowledgedAt === undefined && recoveredAt === undefined && <AcknowledgeButton alert={alert} />}
    </Group>
  )
}

function StateBadge({ alert: { severity, acknowledgedAt, recoveredAt } }: { alert: Alert }) {
  if (recoveredAt !== undefined) return <StatusBadge tone="good">Resolved</StatusBadge>
  if (acknowledgedAt !== undefined) return <StatusBadge tone="neutral">Acknowledged</StatusBadge>
  return severity === 'critical' ? (
    <StatusBadge tone="bad">Critical</StatusBadge>
  ) : (
    <StatusBadge tone="warning">Warning</StatusBadge>
  )
}

function AcknowledgeButton({ alert: { alertId, title } }: { alert: Alert }) {
  const { accountId } = useAccount()
  const acknowledge = useChange({
    change: () => api.alert.acknowledge.mutate({ accountId, alertId }),
    invalidates: [alertsKey(accountId)],
    done: 'Alert acknowledged. No further notifications are sent for it until it is resolved.',
  })
  return (
    <ChangeButton
      variant="default"
      size="xs"
      aria-label={`Acknowledge: ${title}`}
      loading={acknowledge.isPending}
      onClick={() => acknowledge.mutate()}
    >
      Acknowledge
    </ChangeButton>
  )
}
