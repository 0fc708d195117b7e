import { plural, t } from '@lingui/core/macro'
import { Paper, SimpleGrid, Text } from '@mantine/core'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { describeDuration } from '../../ui/time.ts'
import { formatNumber } from '../../language/format.ts'
import { describeBytes, useServerFacts } from './use-console.ts'

/** A worker claims a delivery within a second of its due time. */
const lateSeconds = 60

interface Fact {
  name: string
  value: string
  detail: string
  isBad?: boolean
}

/** The key figures of the server. */
export function ServerFacts() {
  const facts = useServerFacts()
  if (facts.isError && !facts.data) return <ErrorAlert error={facts.error} onRetry={() => facts.refetch()} />
  if (!facts.data) return <LoadingSkeleton lines={3} />
  const { database, accounts, queue, pending } = facts.data
  const shown: Fact[] = [
    {
      name: t`Accounts`,
      value: formatNumber(accounts.total),
      detail: accounts.suspended === 0 ? t`None suspended` : t`${formatNumber(accounts.suspended)} suspended`,
    },
    {
      name: t`Delivery lag`,
      value: queue.lagSeconds < 1 ? t`None` : describeDuration(1000 * queue.lagSeconds),
      detail: plural(queue.waiting, { one: '# delivery waits', other: '# deliveries wait' }),
      isBad: queue.lagSeconds > lateSeconds,
    },
    {
      name: t`Failing endpoints`,
      value: formatNumber(queue.failingEndpoints),
      detail: t`Last attempt failed`,
      isBad: queue.failingEndpoints > 0,
    },
    {
      name: t`Outcome unknown`,
      value: formatNumber(pending.count),
      detail:
        pending.count === 0
          ? t`No message`
          : t`Oldest for ${describeDuration(1000 * Math.round(pending.oldestSeconds))}`,
      isBad: pending.count > 0,
    },
    {
      name: t`Database`,
      value: describeBytes(database.bytes),
      detail: `${database.embedded ? t`Embedded` : 'PostgreSQL'} ${database.postgresVersion}`,
    },
  ]
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: 5 }} spacing="sm" m={0} mb="lg">
      {shown.map(({ name, value, detail, isBad = false }) => (
        <Paper key={name} withBorder p="md">
          <Text component="dt" size="sm" c="dimmed" fw={500}>
            {name}
          </Text>
          <Text
            component="dd"
            m={0}
            mt={2}
            fz={22}
            fw={650}
            c={isBad ? 'var(--mantine-color-error)' : undefined}
            style={{ fontVariantNumeric: 'tabular-nums' }}
          >
            {value}
          </Text>
          <Text component="dd" m={0} size="xs" c="dimmed">
            {detail}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  )
}
