import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { IconBellOff } from '@tabler/icons-react'
import { say } from '../../language/facts.ts'
// The texts of alerts, to show times in the time zone of the reader in English too.
import '../../../../contracts/facts/alerts.ts'
import '../../../../contracts/facts/deliveries.ts'
import type { Alert } from '../../../../contracts/dashboard/alert.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ChangeButton, TextLink } from '../../ui/button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert } from '../../ui/placeholders.tsx'
import styles from '../../ui/lists.module.css'
import { ItemsSkeleton } from '../../ui/skeletons.tsx'
import { listWithoutAlert } from '../overview/attention.ts'
import { AttentionList, useAttention } from '../overview/attention-section.tsx'
import { SeverityBadge } from './problems-section.tsx'
import { alertsKey, useAlerts } from './use-alerts.ts'

export function ListSection() {
  const { accountId } = useAccount()
  const { data, error, isPending, refetch } = useAlerts(accountId)
  const { sources } = useAttention(accountId)
  const withoutAlert = sources ? listWithoutAlert(sources) : []
  return (
    <Section title={t`Open and recent alerts`} description={t`Resolved alerts are kept for 30 days.`}>
      {isPending && <ItemsSkeleton items={2} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {data?.items.length === 0 && sources && withoutAlert.length === 0 && (
        <EmptyState icon={IconBellOff} title={t`No alerts`}>
          <Trans>Problems with WhatsApp accounts, templates, messages and webhooks appear here.</Trans>
        </EmptyState>
      )}
      <ul className={styles['list']}>
        {data?.items.map((alert) => (
          <AlertItem key={alert.alertId} alert={alert} />
        ))}
      </ul>
      {data && withoutAlert.length > 0 && (
        <Box className={data.items.length === 0 ? undefined : styles['below']}>
          <Title order={3} size="sm">{t`Problems without an alert`}</Title>
          <Text size="sm" c="dimmed">
            <Trans>
              No alert was sent for these: they began before Waybill started to check, or no alert covers them.
            </Trans>
          </Text>
          <AttentionList items={withoutAlert} />
        </Box>
      )}
    </Section>
  )
}

function AlertItem({ alert }: { alert: Alert }) {
  const { accountId } = useAccount()
  const { page, openedAt, sentAt, acknowledgedBy, acknowledgedAt, recoveredAt } = alert
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="md" className={styles['item'] ?? ''}>
      <Stack gap={4} flex={1} miw={240}>
        <Group gap="xs">
          <StateBadge alert={alert} />
          <TextLink to={`/${accountId}/${page}`} size="sm" fw={600}>
            {say(alert, 'title')}
          </TextLink>
        </Group>
        <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
          {say(alert, 'body')}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          <Trans>
            Opened <DateTime at={openedAt} />
          </Trans>
          {recoveredAt !== undefined && (
            <>
              {' · '}
              <Trans>
                resolved <DateTime at={recoveredAt} />
              </Trans>
            </>
          )}
          {acknowledgedAt !== undefined && (
            <>
              {' · '}
              {acknowledgedBy === undefined ? (
                <Trans>
                  acknowledged by operator <DateTime at={acknowledgedAt} />
                </Trans>
              ) : (
                <Trans>
                  acknowledged by {acknowledgedBy} <DateTime at={acknowledgedAt} />
                </Trans>
              )}
            </>
          )}
          {sentAt === undefined && recoveredAt === undefined && ` · ${t`waits for the end of quiet hours`}`}
        </Text>
      </Stack>
      {acknowledgedAt === undefined && recoveredAt === undefined && <AcknowledgeButton alert={alert} />}
    </Group>
  )
}

function StateBadge({ alert: { severity, acknowledgedAt, recoveredAt } }: { alert: Alert }) {
  if (recoveredAt !== undefined) return <StatusBadge tone="good">{t`Resolved`}</StatusBadge>
  if (acknowledgedAt !== undefined) return <StatusBadge tone="neutral">{t`Acknowledged`}</StatusBadge>
  return <SeverityBadge severity={severity} />
}

function AcknowledgeButton({ alert }: { alert: Alert }) {
  const { accountId } = useAccount()
  const acknowledge = useChange({
    change: () => api.alert.acknowledge.mutate({ accountId, alertId: alert.alertId }),
    invalidates: [alertsKey(accountId)],
    done: t`Alert acknowledged. No further notifications are sent for it until it is resolved.`,
  })
  return (
    <ChangeButton variant="default" size="xs" aria-label={t`Acknowledge: ${say(alert, 'title')}`} change={acknowledge}>
      <Trans>Acknowledge</Trans>
    </ChangeButton>
  )
}
