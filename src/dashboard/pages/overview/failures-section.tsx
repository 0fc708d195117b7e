import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Overview } from '../../../../contracts/settings/overview.ts'
import { useAccount } from '../../session/account.ts'
import { Section } from '../../ui/section.tsx'
import { Bar } from './bar.tsx'
import { describeCount, describeShare } from './describe-share.ts'
import styles from './overview.module.css'

interface FailuresSectionProps extends Pick<Overview, 'failures'> {
  /** All of them, of which the reasons are the most frequent ones. */
  failed: number
  dayCount: number
}

export function FailuresSection({ failures, failed, dayCount }: FailuresSectionProps) {
  return (
    <Section title="Why messages failed" description="The most frequent reasons first. A reason leads to the messages.">
      {failures.length === 0 ? (
        <Text size="sm">No message failed in these {dayCount} days.</Text>
      ) : (
        <Stack component="ul" gap="md" m={0} p={0} aria-label="Reasons" className={styles['list']}>
          {failures.map((failure) => (
            <FailureReason key={failure.code} failure={failure} failed={failed} />
          ))}
        </Stack>
      )}
    </Section>
  )
}

function FailureReason({
  failure: { code, meaning, count },
  failed,
}: {
  failure: Overview['failures'][number]
  failed: number
}) {
  const { accountId } = useAccount()
  return (
    <li>
      <Group justify="space-between" align="baseline" wrap="nowrap" gap="md" fz="sm" className={styles['numbers']}>
        <Anchor component={Link} to={`/${accountId}/messages?status=failed`} fz="inherit">
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
          {/^\d+$/.test(code) ? 'WhatsApp’s code' : 'Code'} {code}
        </Text>
      )}
    </li>
  )
}
