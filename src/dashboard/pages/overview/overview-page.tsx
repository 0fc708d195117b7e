import { Anchor, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/session.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { MessageStatusBadge } from '../messages/message-status.tsx'
import { DailySection } from './daily-section.tsx'
import { FailuresSection } from './failures-section.tsx'
import { Figures } from './figures.tsx'
import styles from './overview.module.css'
import { TimeToDeliveredSection } from './time-to-delivered-section.tsx'

export function OverviewPage() {
  const { accountId } = useAccount()
  const [search, setSearch] = useSearchParams()
  const period = readPeriod(search)
  const overview = useOverview(accountId, period)
  const latest = useLatestMessages(accountId)
  const totals = overview.data?.totals
  const isEmpty = totals?.attempted === 0 && latest.data?.length === 0
  const show = (days: string) => setSearch((before) => writePeriod(before, days), { replace: true })
  return (
    <>
      <PageHeader
        title="Overview"
        description="Message outcomes in the selected period."
        actions={
          !isEmpty && (
            <SegmentedControl
              aria-label="Period"
              data={periods.map((days) => ({ value: String(days), label: `${days} days` }))}
              value={String(period)}
              onChange={show}
            />
          )
        }
      />
      {overview.isError && <ErrorAlert error={overview.error} onRetry={() => overview.refetch()} />}
      {overview.isPending && <LoadingSkeleton lines={8} />}
      {overview.data && totals && !isEmpty && (
        <div aria-busy={overview.isPlaceholderData} className={styles['body']}>
          <Figures totals={totals} />
          <div className={styles['chartAndLatest']}>
            <DailySection days={overview.data.days} totals={totals} />
            <LatestMessages latest={latest} />
          </div>
          <div className={styles['pair']}>
            <TimeToDeliveredSection
              timeToDelivered={overview.data.timeToDelivered}
              delivered={totals.delivered}
              dayCount={overview.data.days.length}
            />
            <FailuresSection failures={overview.data.failures} totals={totals} days={overview.data.days} />
          </div>
        </div>
      )}
      {isEmpty && <NoMessagesYet />}
    </>
  )
}

/** In days, including today. */
const periods = [7, 30, 90] as const
type Period = (typeof periods)[number]

const usual = 30

/** The period is kept in the URL, so that it survives reloads and can be shared. */
function readPeriod(search: URLSearchParams): Period {
  return periods.find((days) => String(days) === search.get('days')) ?? usual
}

function writePeriod(before: URLSearchParams, days: string): URLSearchParams {
  const search = new URLSearchParams(before)
  search.set('days', days)
  return search
}

/** Pages in the background do not refresh. */
const refreshMilliseconds = 10_000
const latestCount = 5

function useOverview(accountId: string, days: Period) {
  return useQuery({
    queryKey: ['overview', accountId, days],
    queryFn: ({ signal }) => settings.overview.get.query({ accountId, days }, { signal }),
    refetchInterval: refreshMilliseconds,
    placeholderData: keepPreviousData,
  })
}

/** Independent of the selected period. */
function useLatestMessages(accountId: string) {
  return useQuery({
    queryKey: ['messages', accountId, 'latest'],
    queryFn: async ({ signal }) =>
      (await settings.message.list.query({ accountId, limit: latestCount }, { signal })).items,
    refetchInterval: refreshMilliseconds,
  })
}

type LatestMessagesQuery = ReturnType<typeof useLatestMessages>

function LatestMessages({ latest }: { latest: LatestMessagesQuery }) {
  const { accountId } = useAccount()
  return (
    <Section title="Latest messages">
      {latest.isPending && <LoadingSkeleton />}
      {latest.isError && <ErrorAlert error={latest.error} onRetry={() => latest.refetch()} />}
      {latest.data?.length === 0 && <Text size="sm">No recent messages.</Text>}
      {latest.data && latest.data.length > 0 && (
        <>
          <Stack component="ul" gap={0} m={0} p={0} aria-label="Latest messages" className={styles['list']}>
            {latest.data.map((message) => (
              <LatestMessage key={message.messageId} message={message} />
            ))}
          </Stack>
          <Anchor component={Link} to={`/${accountId}/messages`} size="sm" display="inline-block" mt="sm">
            All messages
          </Anchor>
        </>
      )}
    </Section>
  )
}

function LatestMessage({ message: { messageId, to, status, template, createdAt } }: { message: Message }) {
  const { accountId } = useAccount()
  return (
    <li className={styles['latest']}>
      <Group justify="space-between" wrap="nowrap" gap="sm" fz="sm" className={styles['numbers']}>
        <Anchor component={Link} to={`/${accountId}/messages/${messageId}`} fz="inherit" fw={500}>
          +{to}
        </Anchor>
        <MessageStatusBadge status={status} />
      </Group>
      <Group justify="space-between" wrap="nowrap" gap="sm" mt={2} fz="xs" c="dimmed">
        <Text span inherit truncate title={template}>
          {template}
        </Text>
        <DateTime at={createdAt} />
      </Group>
    </li>
  )
}

/** Shown for new accounts. */
function NoMessagesYet() {
  const { accountId } = useAccount()
  return (
    <Section title="No messages yet">
      <EmptyState
        icon={IconSend}
        title="Send your first message"
        action={
          <Group gap="sm" justify="center">
            <Button component={Link} to={`/${accountId}/public-api`}>
              Open Public API
            </Button>
            <Button component="a" href="/docs" target="_blank" variant="default">
              Read the documentation
            </Button>
          </Group>
        }
      >
        Get an API key and an example request from Public API, or send a test message from{' '}
        <Anchor component={Link} to={`/${accountId}/templates`} inherit underline="always">
          Templates
        </Anchor>
        . Delivery statistics appear here after the first message.
      </EmptyState>
    </Section>
  )
}
