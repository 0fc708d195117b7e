import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { formatNumber } from '../../language/format.ts'
import { say } from '../../language/facts.ts'
import type { Funnel, Overview } from '../../../../contracts/dashboard/overview.ts'
import { useAccount } from '../../session/session.ts'
import { Section } from '../../ui/page.tsx'
import { noFilters, writeFilters } from '../messages/message-filters.ts'
import { Bar } from './figures.tsx'
import styles from './overview.module.css'
import { countFailed, describeShare, toLogRange } from './statistics.ts'
import { TextLink } from '../../ui/button.tsx'

type Failure = Overview['failures'][number]

/** As high as the breakdown beside it. */
const firstReasons = 5

/** Failure reasons with counts. The sum equals the rejected and undelivered messages of the period. */
export function FailuresSection({ overview }: { overview: Overview }) {
  const { failures, totals } = overview
  const [showsAll, setShowsAll] = useState(false)
  const failed = countFailed(totals)
  const others = failed - failures.reduce((sum, failure) => sum + countFailed(failure), 0)
  return (
    <Section title={t`Failure reasons`} description={t`Most frequent first. Select a reason to see its messages.`}>
      {failed === 0 ? (
        <Text size="sm">{t`No messages failed in this period.`}</Text>
      ) : (
        <>
          <Text size="sm" mb="md">
            <Trans>
              <strong>{formatNumber(failed)}</strong> failed: {describeSplit(totals)}.
            </Trans>
          </Text>
          <Stack component="ul" gap="md" m={0} p={0} aria-label={t`Reasons`} className={styles['list']}>
            {(showsAll ? failures : failures.slice(0, firstReasons)).map((failure) => (
              <FailureReason key={failure.code} failure={failure} overview={overview} />
            ))}
          </Stack>
          {failures.length > firstReasons && (
            <Button variant="subtle" size="compact-sm" mt="md" onClick={() => setShowsAll(!showsAll)}>
              {showsAll ? t`Show fewer reasons` : t`Show all ${failures.length} reasons`}
            </Button>
          )}
          {others > 0 && (
            <Text size="sm" mt="md" c="dimmed">
              <Trans>Other reasons: {formatNumber(others)}</Trans>
            </Text>
          )}
        </>
      )}
    </Section>
  )
}

function FailureReason({ failure, overview }: { failure: Failure; overview: Overview }) {
  const { accountId } = useAccount()
  const { code, meaning, advice, facts } = failure
  // Several codes can have the same meaning.
  const hasTwin = overview.failures.some((other) => other.code !== code && other.meaning === meaning)
  const [count, failed] = [countFailed(failure), countFailed(overview.totals)]
  return (
    <li>
      <Group justify="space-between" align="baseline" wrap="nowrap" gap="md" fz="sm" className={styles['numbers']}>
        <TextLink
          to={`/${accountId}/messages?${writeFilters({ ...noFilters, errorCode: code, ...toLogRange(overview) })}`}
          fz="inherit"
        >
          {say({ meaning, facts }, 'meaning')}
          {hasTwin && ` (${code})`}
        </TextLink>
        <span className={styles['count']}>
          {formatNumber(count)}{' '}
          <Text span inherit c="dimmed">
            · {describeShare(count, failed)}
          </Text>
        </span>
      </Group>
      <Bar segment={failure.refused > failure.undelivered ? 'refused' : 'undelivered'} share={count / failed} />
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {code !== '' && `${/^\d+$/.test(code) ? t`WhatsApp error ${code}` : t`Error ${code}`} · `}
        {describeSplit(failure)}
      </Text>
      {advice !== undefined && (
        <Text size="xs" mt={2}>
          {say({ advice, facts }, 'advice')}
        </Text>
      )}
    </li>
  )
}

/** `2 rejected`, `1 undelivered` or both. */
function describeSplit({ refused, undelivered }: Pick<Funnel, 'refused' | 'undelivered'>): string {
  const parts = [
    refused > 0 && t`${formatNumber(refused)} rejected`,
    undelivered > 0 && t`${formatNumber(undelivered)} undelivered`,
  ]
  return parts.filter(Boolean).join(', ')
}
