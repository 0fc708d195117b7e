import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Badge, Box, Group, Paper, Text } from '@mantine/core'
import { IconAlertTriangle, IconPlayerPause } from '@tabler/icons-react'
import { say, toSentence } from '../../language/facts.ts'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import type { api } from '../../api/client.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { DateTime, LogTime } from '../../ui/date-time.tsx'
import { AttemptBars } from './attempt-bars.tsx'
import { describeFailure, describeOptionalDuration, describeRate, describeSince, fillSlots } from './statistics.ts'
import styles from './webhooks.module.css'
import { TextLink } from '../../ui/button.tsx'

type Activity = Awaited<ReturnType<typeof api.webhook.activity.query>>

interface EndpointCardProps {
  endpoint: Endpoint
  /** Undefined until it is loaded. */
  activity: Activity | undefined
}

/** An endpoint in the list, with its state and the attempts of the last day. */
export function EndpointCard({ endpoint, activity }: EndpointCardProps) {
  const { endpointId, url, description, reason, facts, failure, lastDeliveredAt, waiting, failed = 0 } = endpoint
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }} component="article" aria-label={t`Endpoint ${new URL(url).host}`}>
      <div className={styles['endpoint']}>
        <Box miw={0}>
          <Group gap="xs">
            <TextLink to={endpointId} c="var(--mantine-color-text)" underline="hover" miw={0}>
              <EndpointUrl url={url} />
            </TextLink>
            <EndpointBadge endpoint={endpoint} />
          </Group>
          {description !== undefined && (
            <Text size="sm" mt={2} c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {description}
            </Text>
          )}
          {reason !== undefined && (
            <Text size="sm" mt={4}>
              {toSentence(say({ reason, facts }, 'reason'))}
            </Text>
          )}
          {failure && (
            <Text size="sm" mt={4} fw={500} c="var(--mantine-color-error)">
              {describeFailure(failure)}{' '}
              <TextLink to={`${endpointId}#deliveries`} fz="inherit">{t`See the deliveries`}</TextLink>
            </Text>
          )}
          <Group gap="4px 20px" mt={6} fz="sm" c="dimmed">
            <span>
              {lastDeliveredAt === undefined ? (
                t`No recent successful deliveries`
              ) : (
                <Trans>
                  Last successful delivery <DateTime at={lastDeliveredAt} />
                </Trans>
              )}
            </span>
            {waiting > 0 && <span>{t`${countWaiting(waiting)} waiting`}</span>}
            {failed > 0 && <span>{describeFailed(failed)}</span>}
          </Group>
          <Box mt="sm">
            <EventBadges events={endpoint.events} />
          </Box>
        </Box>
        {activity && <RecentActivity endpointId={endpointId} activity={activity} />}
      </div>
    </Paper>
  )
}

/** Attempts of the last 24 hours. */
function RecentActivity({ endpointId, activity }: { endpointId: string; activity: Activity }) {
  const recent = activity.items.find((item) => item.endpointId === endpointId)
  const { attempts = 0, succeeded = 0, averageMilliseconds, slots = [] } = recent ?? {}
  return (
    <Box>
      <AttemptBars slots={fillSlots(activity, slots)} shows="attempts" height={40} />
      <Text size="xs" c="dimmed" mt={6} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {attempts === 0 ? (
          t`No attempts in 24 hours`
        ) : (
          <>
            {t`${describeRate(succeeded, attempts)} of ${plural(attempts, { one: '# attempt', other: '# attempts' })} succeeded`}
            <br />
            {t`${describeOptionalDuration(averageMilliseconds)} on average · 24 hours`}
          </>
        )}
      </Text>
    </Box>
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
  if (state === 'disabled') return <StatusBadge tone="neutral">{t`Disabled`}</StatusBadge>
  if (failingSince !== undefined) return <StatusBadge tone="bad">{t`Failing`}</StatusBadge>
  return <StatusBadge tone="good">{t`Enabled`}</StatusBadge>
}

export function isFailing({ state, failingSince }: Endpoint): boolean {
  return state === 'enabled' && failingSince !== undefined
}

/** Explains why deliveries do not arrive, if so. */
export function EndpointAlert({ endpoint }: { endpoint: Endpoint }) {
  const { state, reason, facts, failingSince, missedSince, failure, waiting, failed = 0 } = endpoint
  if (state === 'disabled')
    return (
      <Alert color="gray" icon={<IconPlayerPause />} title={t`This endpoint is disabled`} mb="lg">
        <Text size="sm">
          {reason !== undefined && `${toSentence(say({ reason, facts }, 'reason'))} `}
          {failure && `${describeFailure(failure)} `}
          <Trans>New events are queued and delivered once it is enabled.</Trans>
        </Text>
      </Alert>
    )
  if (failingSince === undefined) return null
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle />}
      title={
        failure
          ? describeFailure(failure).replace(/\.$/, '')
          : t`Deliveries have failed since ${describeSince(failingSince)}`
      }
      mb="lg"
    >
      <Text size="sm">
        <Trans>
          First failed attempt: <LogTime at={failingSince} />.
        </Trans>{' '}
        {missedSince !== undefined && (
          <Trans>
            Oldest undelivered event: created <LogTime at={missedSince} />.
          </Trans>
        )}
      </Text>
      <Text size="sm" mt={4}>
        {waiting > 0 && `${t`${countWaiting(waiting)} will be retried.`} `}
        {failed > 0 && `${describeFailed(failed)}. `}
        <Trans>After five days without a successful delivery, the endpoint is disabled.</Trans>
      </Text>
      <TextLink to="#deliveries" size="sm" mt="sm" display="inline-block">
        <Trans>See the deliveries</Trans>
      </TextLink>
    </Alert>
  )
}

/** Describes deliveries that are no longer retried. */
function describeFailed(count: number): string {
  return plural(count, { one: '# failed for good', other: '# failed for good' })
}

export function countWaiting(count: number): string {
  return plural(count, { one: '# delivery', other: '# deliveries' })
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
          {...(!showQuery && { title: t`The query string is hidden because it may contain a token.` })}
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
