import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Overview } from '../../../../contracts/dashboard/overview.ts'
import { useAccount } from '../../session/session.ts'
import { Section } from '../../ui/page.tsx'
import { isRange, noFilters, writeFilters } from '../messages/message-filters.ts'
import { Bar } from './figures.tsx'
import styles from './overview.module.css'
import { describeCount, describeShare } from './statistics.ts'

interface FailuresSectionProps extends Pick<Overview, 'failures'> {
  /** All failed messages; the list has only the most frequent reasons. */
  failed: number
  dayCount: number
}

export function FailuresSection({ failures, failed, dayCount }: FailuresSectionProps) {
  return (
    <Section title="Failure reasons" description="Most frequent first. Select a reason to see the failed messages.">
      {failures.length === 0 ? (
        <Text size="sm">No messages failed in the last {dayCount} days.</Text>
      ) : (
        <Stack component="ul" gap="md" m={0} p={0} aria-label="Reasons" className={styles['list']}>
          {failures.map((failure) => (
            <FailureReason key={failure.code} failure={failure} failed={failed} dayCount={dayCount} />
          ))}
        </Stack>
      )}
    </Section>
  )
}

function FailureReason({
  failure: { code, meaning, count },
  failed,
  dayCount,
}: {
  failure: Overview['failures'][number]
  failed: number
  dayCount: number
}) {
  const { accountId } = useAccount()
  return (
    <li>
      <Group justify="space-between" align="baseline" wrap="nowrap" gap="md" fz="sm" className={styles['numbers']}>
        <Anchor component={Link} to={`/${accountId}/messages?${failedIn(dayCount)}`} fz="inherit">
          {meaning}
        </Anchor>
        <span className={styles['count']}>
          {describeCount(count)}{' '}
          <Text span inherit c="dimmed">
            · {describeShare(count, failed)}
          </Text>
        </span>
      </Group>
      <Bar state="failed" share={failed === 0 ? 0 : count / failed} />
      {code !== '' && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {/^\d+$/.test(code) ? 'WhatsApp error' : 'Error'} {code}
        </Text>
      )}
    </li>
  )
}

/** The closest filter of the message log, which has no range of 90 days. */
function failedIn(dayCount: number): URLSearchParams {
  const range = `${dayCount}d`
  return writeFilters({ ...noFilters, status: 'failed', range: isRange(range) ? range : 'any' })
}
