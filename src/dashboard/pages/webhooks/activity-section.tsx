import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, SegmentedControl, Table, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatNumber } from '../../language/format.ts'
import { capitalize, say } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import { type Endpoint, type FailureGroup, statisticsRanges } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { AttemptChart } from './attempt-bars.tsx'
import { describeOptionalDuration, describeRate, fillSlots } from './statistics.ts'
import { webhooksKey } from './use-endpoints.ts'
import styles from './webhooks.module.css'

type Range = (typeof statisticsRanges)[number]
type Statistics = Awaited<ReturnType<typeof api.webhook.statistics.query>>

const rangeNames = { '24h': msg`24 hours`, '7d': msg`7 days` } satisfies Record<Range, MessageDescriptor>
const lastRangeNames = {
  '24h': msg`in the last 24 hours`,
  '7d': msg`in the last 7 days`,
} satisfies Record<Range, MessageDescriptor>
const refreshMilliseconds = 10_000

interface ActivitySectionProps {
  endpoint: Endpoint
  /** Opens the redelivery dialog for deliveries that failed with an error since a given time. */
  onRedeliver: (choice: { error: string; since: string }) => void
}

/** Success rate and duration of the attempts, then the failed ones by response. */
export function ActivitySection({ endpoint: { endpointId }, onRedeliver }: ActivitySectionProps) {
  const [range, setRange] = useState<Range>('24h')
  const { data, error, isPending, refetch } = useStatistics(endpointId, range)
  return (
    <Section
      title={t`Activity`}
      description={t`Counts attempts, not deliveries: each retry of a delivery is another attempt.`}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t`Period`}
          data={statisticsRanges.map((value) => ({ value, label: translate(rangeNames[value]) }))}
          value={range}
          onChange={(value) => setRange(value)}
        />
      }
    >
      {isPending && <LoadingSkeleton lines={5} />}
      {error && !data && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {data?.totals.attempts === 0 && (
        <Text size="sm" c="dimmed" py="sm">
          <Trans>No attempts {translate(lastRangeNames[range])}.</Trans>
        </Text>
      )}
      {data && data.totals.attempts > 0 && (
        <>
          <Figures totals={data.totals} />
          <Charts data={data} range={range} />
          {data.failures.length > 0 && <Failures data={data} onRedeliver={onRedeliver} />}
        </>
      )}
    </Section>
  )
}

function useStatistics(endpointId: string, range: Range) {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: [...webhooksKey(accountId), 'statistics', endpointId, range],
    queryFn: ({ signal }) => api.webhook.statistics.query({ accountId, endpointId, range }, { signal }),
    refetchInterval: refreshMilliseconds,
    placeholderData: keepPreviousData,
  })
}

/** Failures of the last seven days, latest first. */
export function useFailures(endpointId: string): FailureGroup[] {
  const week = useStatistics(endpointId, '7d')
  return week.data?.failures ?? []
}

function Figures({ totals }: Pick<Statistics, 'totals'>) {
  const { attempts, succeeded, averageMilliseconds, slowestMilliseconds } = totals
  const figures = [
    { name: t`Attempts`, value: formatNumber(attempts) },
    { name: t`Success rate`, value: describeRate(succeeded, attempts) },
    { name: t`Average time`, value: describeOptionalDuration(averageMilliseconds) },
    { name: t`Slowest`, value: describeOptionalDuration(slowestMilliseconds) },
  ]
  return (
    <Box component="dl" className={styles['figures']}>
      {figures.map(({ name, value }) => (
        <div key={name}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} className={styles['value']}>
            {value}
          </Text>
        </div>
      ))}
    </Box>
  )
}

function Charts({ data, range }: { data: Statistics; range: Range }) {
  const { totals, slotSeconds } = data
  const slots = fillSlots(data, data.slots)
  const period = translate(lastRangeNames[range])
  return (
    <div className={styles['charts']}>
      <AttemptChart
        title={t`Attempts`}
        shows="attempts"
        slots={slots}
        slotSeconds={slotSeconds}
        description={t`Attempts ${period}: ${formatNumber(totals.attempts)}, of which ${formatNumber(totals.attempts - totals.succeeded)} failed.`}
      />
      <AttemptChart
        title={t`Average time`}
        shows="time"
        slots={slots}
        slotSeconds={slotSeconds}
        description={t`Time of an attempt ${period}: ${describeOptionalDuration(totals.averageMilliseconds)} on average, at most ${describeOptionalDuration(totals.slowestMilliseconds)}.`}
      />
    </div>
  )
}

interface FailuresProps extends Pick<ActivitySectionProps, 'onRedeliver'> {
  data: Pick<Statistics, 'failures' | 'hasMoreFailures' | 'from'>
}

function Failures({ data: { failures, hasMoreFailures, from }, onRedeliver }: FailuresProps) {
  return (
    <Box mt="lg">
      <Table.ScrollContainer minWidth={560} type="native" className={styles['failuresArea'] ?? ''}>
        <Table
          aria-label={t`Failed attempts by answer`}
          fz="sm"
          className={`${styles['numbers']} ${styles['failures']}`}
        >
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t`Failure`}</Table.Th>
              <Table.Th scope="col" ta="right">{t`Failed attempts`}</Table.Th>
              <Table.Th scope="col">{t`First attempt`}</Table.Th>
              <Table.Th scope="col">{t`Last attempt`}</Table.Th>
              <Table.Th scope="col" aria-label={t`Action`} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {failures.map((failure) => (
              <FailureRow
                key={failure.error}
                failure={failure}
                onRedeliver={() => onRedeliver({ error: failure.error, since: from })}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {hasMoreFailures && (
        <Text size="xs" c="dimmed" mt="xs">
          <Trans>Only the latest {failures.length} kinds of failures are listed.</Trans>
        </Text>
      )}
    </Box>
  )
}

function FailureRow({ failure, onRedeliver }: { failure: FailureGroup; onRedeliver: () => void }) {
  const { attempts, firstAt, lastAt } = failure
  const name = capitalize(say(failure, 'error').replace(/\.$/, ''))
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500} style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Table.Th>
      <Table.Td ta="right" data-label={t`Failed attempts`}>
        {formatNumber(attempts)}
      </Table.Td>
      <Table.Td data-label={t`First attempt`}>
        <LogTime at={firstAt} />
      </Table.Td>
      <Table.Td data-label={t`Last attempt`}>
        <LogTime at={lastAt} />
      </Table.Td>
      <Table.Td ta="right">
        <ChangeButton
          size="compact-xs"
          variant="default"
          icon={IconRefresh}
          aria-label={t`Redeliver what failed with: ${name}`}
          onClick={onRedeliver}
        >
          <Trans>Redeliver…</Trans>
        </ChangeButton>
      </Table.Td>
    </Table.Tr>
  )
}
