import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Button, Group, Paper, Text, UnstyledButton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatNumber } from '../../language/format.ts'
import { say } from '../../language/facts.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { type MessageFilters, toListInput } from './message-filters.ts'
import styles from './failure-reasons.module.css'

const refreshMilliseconds = 30_000
const shownAtFirst = 6

interface FailureReasonsProps {
  filters: MessageFilters
  onSelect: (errorCode: string) => void
}

/** Failure reasons of all messages that match the filters, loaded or not. Selecting a reason filters by its code. */
export function FailureReasons({ filters, onSelect }: FailureReasonsProps) {
  const { accountId } = useAccount()
  const [showsAll, setShowsAll] = useState(false)
  const { data } = useQuery({
    queryKey: ['messages', accountId, 'failureReasons', filters],
    queryFn: ({ signal }) =>
      api.message.failureReasons.query({ accountId, ...toListInput(filters, new Date()) }, { signal }),
    refetchInterval: refreshMilliseconds,
    placeholderData: keepPreviousData,
  })
  if (!data || data.reasons.length === 0) return null
  const { reasons, others, examined } = data
  const hidden = showsAll ? 0 : Math.max(reasons.length - shownAtFirst, 0)
  return (
    <Paper component="section" withBorder p="sm" mb="sm" aria-label={t`Failure reasons`}>
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={600}>{t`Failure reasons`}</Text>
        <Text size="xs" c="dimmed">
          {examined === undefined
            ? t`Select a reason to filter by it.`
            : t`Of the newest ${formatNumber(examined)} messages. Select a reason to filter by it.`}
        </Text>
      </Group>
      <Box component="ul" m={0} mt={4} p={0} className={styles['reasons']}>
        {reasons.slice(0, reasons.length - hidden).map(({ code, count, ...cause }) => (
          <li key={code}>
            <UnstyledButton
              className={styles['reason']}
              aria-pressed={code === filters.errorCode}
              onClick={() => onSelect(code === filters.errorCode ? '' : code)}
            >
              <span className={styles['count']}>{formatNumber(count)}</span>
              <span className={styles['reasonText']}>
                <span className={styles['meaning']} title={say(cause, 'meaning')}>
                  {say(cause, 'meaning')}
                </span>{' '}
                <Text span inherit c="dimmed" className={styles['code']}>
                  {code}
                </Text>
              </span>
            </UnstyledButton>
          </li>
        ))}
      </Box>
      {hidden > 0 && (
        <Button size="compact-xs" variant="subtle" mt={4} onClick={() => setShowsAll(true)}>
          {plural(hidden, { one: 'Show # more reason', other: 'Show # more reasons' })}
        </Button>
      )}
      {others > 0 && hidden === 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          <Trans>Other reasons: {formatNumber(others)}</Trans>
        </Text>
      )}
    </Paper>
  )
}
