import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Funnel, Overview } from '../../../../contracts/dashboard/overview.ts'
import { useAccount } from '../../session/session.ts'
import { Section } from '../../ui/page.tsx'
import { noFilters, writeFilters } from '../messages/message-filters.ts'
import { Bar } from './figures.tsx'
import styles from './overview.module.css'
import { countFailed, describeCount, describeShare, toLogRange } from './statistics.ts'

type Failure = Overview['failures'][number]

/** The reasons with their counts, which add up to the refused and undelivered messages of the period. */
export function FailuresSection({ overview }: { overview: Overview }) {
  const { failures, totals } = overview
  const failed = countFailed(totals)
  const others = failed - failures.reduce((sum, failure) => sum + countFailed(failure), 0)
  return (
    <Section title="Failure reasons" description="Most frequent first. Select a reason to see its messages.">
      {failed === 0 ? (
        <Text size="sm">No messages failed in this period.</Text>
      ) : (
        <>
          <Text size="sm" mb="md">
            <strong>{describeCount(failed)}</strong> failed: {describeSplit(totals)}.
          </Text>
          <Stack component="ul" gap="md" m={0} p={0} aria-label="Reasons" className={styles['list']}>
            {failures.map((failure) => (
              <FailureReason key={failure.code} failure={failure} overview={overview} />
            ))}
          </Stack>
          {others > 0 && (
            <Text size="sm" mt="md" c="dimmed">
              Other reasons: {describeCount(others)}
            </Text>
          )}
        </>
      )}
    </Section>
  )
}

interface FailureReasonProps {
  failure: Failure
  overview: Overview
}

function FailureReason({ failure, overview }: FailureReasonProps) {
  const { accountId } = useAccount()
  const { code, meaning } = failure
  const [count, failed] = [countFailed(failure), countFailed(overview.totals)]
  return (
    <li>
      <Group justify="space-between" align="baseline" wrap="nowrap" gap="md" fz="sm" className={styles['numbers']}>
        <Anchor
          component={Link}
          to={`/${accountId}/messages?${writeFilters({ ...noFilters, errorCode: code, ...toLogRange(overview) })}`}
          fz="inherit"
        >
          {meaning}
        </Anchor>
        <span className={styles['count']}>
          {describeCount(count)}{' '}
          <Text span inherit c="dimmed">
            · {describeShare(count, failed)}
          </Text>
        </span>
      </Group>
      <Bar segment={failure.refused > failure.undelivered ? 'refused' : 'undelivered'} share={count / failed} />
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {code !== '' && `${/^\d+$/.test(code) ? 'WhatsApp error' : 'Error'} ${code} · `}
        {describeSplit(failure)}
      </Text>
    </li>
  )
}

/** `2 refused`, `1 undelivered` or both. */
function describeSplit({ refused, undelivered }: Pick<Funnel, 'refused' | 'undelivered'>): string {
  const parts = [
    refused > 0 && `${describeCount(refused)} refused`,
    undelivered > 0 && `${describeCount(undelivered)} undelivered`,
  ]
  return parts.filter(Boolean).join(', ')
}
