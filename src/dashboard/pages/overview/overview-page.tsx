import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Group, Paper, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import type { Message } from '../../../../contracts/api/message.ts'
import type { Overview } from '../../../../contracts/dashboard/overview.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { showRecipient } from '../../ui/phone-number.ts'
import { ItemsSkeleton } from '../../ui/skeletons.tsx'
import { GettingStarted } from '../getting-started/getting-started.tsx'
import { noFilters, writeFilters } from '../messages/message-filters.ts'
import { MessageStatusBadge } from '../messages/message-status.tsx'
import { AttentionSection, useAttention } from './attention-section.tsx'
import { BreakdownSection } from './breakdown-section.tsx'
import { CostSection } from './cost-section.tsx'
import { DailySection } from './daily-section.tsx'
import { FailuresSection } from './failures-section.tsx'
import { Figures } from './figures.tsx'
import { MessagingLimitSection } from './messaging-limit-section.tsx'
import styles from './overview.module.css'
import figureStyles from '../../ui/figures.module.css'
import { PeriodControls } from './period-controls.tsx'
import { describeRange, readSelection, type Selection, toInput, writeSelection } from './period.ts'
import { stages, toLogRange } from './statistics.ts'
import { TimeToDeliveredSection } from './time-to-delivered-section.tsx'
import { TextLink } from '../../ui/button.tsx'

export function OverviewPage() {
  const { accountId } = useAccount()
  const [search, setSearch] = useSearchParams()
  const selection = readSelection(search)
  const overview = useOverview(accountId, selection)
  const latest = useLatestMessages(accountId)
  const attention = useAttention(accountId)
  // Everything is shown at once, so that nothing moves. Whether an account without counts is new, its messages tell.
  const isUnknown = latest.isPending && overview.data?.firstDay === undefined
  const data = attention.isPending || isUnknown ? undefined : overview.data
  const isEmpty = data !== undefined && data.firstDay === undefined && latest.data?.length === 0
  const isNew = latest.data !== undefined && latest.data.length < latestCount
  return (
    <>
      <PageHeader
        title={t`Overview`}
        description={isEmpty ? undefined : data ? describePeriod(data) : t`Message outcomes in the selected period.`}
        actions={
          !isEmpty && (
            <PeriodControls
              selection={selection}
              overview={data}
              onSelect={(selected) => setSearch(writeSelection(selected), { replace: true })}
            />
          )
        }
      />
      {overview.isError && <ErrorAlert error={overview.error} onRetry={() => overview.refetch()} />}
      {!overview.isError && data === undefined && <OverviewSkeleton />}
      {data && !isEmpty && (
        <div aria-busy={overview.isPlaceholderData} className={styles['body']}>
          <AttentionSection overview={data} />
          <MessagingLimitSection isNear />
          <Figures overview={data} />
          <DailySection overview={data} />
          <div className={styles['columns']}>
            <div>
              <FailuresSection overview={data} />
              <BreakdownSection overview={data} />
            </div>
            <div>
              <CostSection selection={selection} />
              {isNew && <GettingStarted hasMessages />}
              <LatestMessages latest={latest} overview={data} />
              <TimeToDeliveredSection timeToDelivered={data.timeToDelivered} delivered={data.totals.delivered} />
              <MessagingLimitSection isNear={false} />
            </div>
          </div>
        </div>
      )}
      {isEmpty && <GettingStarted />}
    </>
  )
}

function describePeriod({ days, unit, previous }: Overview): string {
  const [first, last] = [days[0], days.at(-1)]
  const shown =
    unit === 'hour' || !first || !last ? t`Last 24 hours` : describeRange({ from: first.date, until: last.date })
  // Stated once, because it applies to all figures.
  if (!previous) return t`${shown}. No earlier period to compare with.`
  return t`${shown}, compared with ${unit === 'hour' ? t`the 24 hours before` : describeRange(previous)}`
}

/** Background tabs do not refresh. */
const refreshMilliseconds = 10_000
const latestCount = 5

function useOverview(accountId: string, selection: Selection) {
  const input = toInput(selection)
  return useQuery({
    queryKey: ['overview', accountId, input],
    queryFn: ({ signal }) => api.overview.get.query({ accountId, ...input }, { signal }),
    refetchInterval: refreshMilliseconds,
    placeholderData: keepPreviousData,
  })
}

/** Independent of the selected period. */
function useLatestMessages(accountId: string) {
  return useQuery({
    queryKey: ['messages', accountId, 'latest'],
    queryFn: async ({ signal }) => (await api.message.list.query({ accountId, limit: latestCount }, { signal })).items,
    refetchInterval: refreshMilliseconds,
  })
}

type LatestMessagesQuery = ReturnType<typeof useLatestMessages>

function LatestMessages({ latest, overview }: { latest: LatestMessagesQuery; overview: Overview }) {
  const { accountId } = useAccount()
  return (
    <Section title={t`Latest messages`}>
      {latest.isPending && <ItemsSkeleton items={5} />}
      {latest.isError && <ErrorAlert error={latest.error} onRetry={() => latest.refetch()} />}
      {latest.data?.length === 0 && <Text size="sm">{t`No recent messages.`}</Text>}
      {latest.data && latest.data.length > 0 && (
        <>
          <Stack component="ul" gap={0} m={0} p={0} aria-label={t`Latest messages`} className={styles['list']}>
            {latest.data.map((message) => (
              <LatestMessage key={message.messageId} message={message} />
            ))}
          </Stack>
          <TextLink
            to={`/${accountId}/messages?${writeFilters({ ...noFilters, ...toLogRange(overview) })}`}
            size="sm"
            display="inline-block"
            mt="sm"
          >
            <Trans>Messages of this period</Trans>
          </TextLink>
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
        <TextLink to={`/${accountId}/messages/${messageId}`} fz="inherit" fw={500}>
          {showRecipient(to)}
        </TextLink>
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

/** A skeleton with the layout of the page. */
function OverviewSkeleton() {
  return (
    <Box role="status" className={styles['body']}>
      <VisuallyHidden>{t`Loading`}</VisuallyHidden>
      <Skeleton height={42} mb="lg" />
      <Box className={figureStyles['figures']}>
        {stages.map((stage) => (
          <Paper key={stage} radius={0} className={figureStyles['figure']}>
            <Skeleton height={12} width="55%" mt={5} />
            <Skeleton height={22} width="45%" mt={12} />
            <Skeleton height={10} width="70%" mt={9} />
            <Skeleton height={24} mt={9} />
          </Paper>
        ))}
      </Box>
      <SectionSkeleton>
        <Box className={styles['bars']}>
          {barHeights.map((height, day) => (
            <Skeleton key={day} height={`${height}%`} radius="xs" />
          ))}
        </Box>
      </SectionSkeleton>
      <Box className={styles['columns']}>
        <SectionSkeleton>
          <ItemsSkeleton items={4} />
        </SectionSkeleton>
        <SectionSkeleton>
          <ItemsSkeleton items={4} />
        </SectionSkeleton>
      </Box>
    </Box>
  )
}

/** Two weeks of bars, as a chart has them. */
const barHeights = [62, 70, 55, 82, 66, 30, 26, 64, 76, 58, 88, 72, 34, 28]

function SectionSkeleton({ children }: { children: ReactNode }) {
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }} mb="lg">
      <Skeleton height={16} width="25%" mb="sm" />
      <Skeleton height={10} width="45%" mb="lg" />
      {children}
    </Paper>
  )
}
