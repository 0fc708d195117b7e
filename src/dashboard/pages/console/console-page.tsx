import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Paper, Text } from '@mantine/core'
import { IconLogout, IconShieldLock } from '@tabler/icons-react'
import { formatNumber } from '../../language/format.ts'
import { NotFoundPage } from '../../layout/fallback-pages.tsx'
import { useSignOut, useUser } from '../../session/session.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { ScrollingTable, tabular } from '../../ui/data-table.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import styles from '../../ui/figures.module.css'
import { describeDuration } from '../../ui/time.ts'
import { AccountsSection } from './accounts-section.tsx'
import { CreateAccountButton } from './create-account.tsx'
import { ProcessesSection } from './processes-section.tsx'
import { describeBytes, useServerFacts, useSlowEndpoints } from './use-console.ts'

/** All accounts of the server, for operators. The server enforces access. */
export function ConsolePage() {
  const { operator } = useUser()
  if (operator === undefined) return <NotFoundPage />
  if (operator !== 'granted')
    return (
      <>
        <PageHeader title={t`Console`} />
        {operator === 'needs_code' ? <CodeNeeded /> : <AuthenticatorNeeded />}
      </>
    )
  return (
    <>
      <PageHeader
        title={t`Console`}
        description={t`Accounts and health of this server. Changes are recorded in the audit log of the account.`}
        actions={<CreateAccountButton />}
      />
      <ServerFacts />
      <AccountsSection />
      <SlowEndpointsSection />
      <ProcessesSection />
    </>
  )
}

function AuthenticatorNeeded() {
  return (
    <EmptyState
      icon={IconShieldLock}
      title={t`Set up an authenticator app`}
      action={<LinkButton to="/profile">{t`Go to your profile`}</LinkButton>}
    >
      <Trans>
        The console needs two-factor authentication. Set up an authenticator app in your profile, then come back. If you
        have no password, ask for one with Forgot password.
      </Trans>
    </EmptyState>
  )
}

function CodeNeeded() {
  const signOut = useSignOut()
  return (
    <EmptyState
      icon={IconShieldLock}
      title={t`Sign in with a code`}
      action={<Button icon={IconLogout} onClick={() => void signOut('/sign-in?to=%2Fconsole')}>{t`Sign out`}</Button>}
    >
      <Trans>
        The console needs a session that was started with a code of your authenticator app. Sign in again with your
        password and a code.
      </Trans>
    </EmptyState>
  )
}

function SlowEndpointsSection() {
  const slow = useSlowEndpoints()
  return (
    <Section title={t`Slowest endpoints`} description={t`Webhook endpoints by average response time, last hour.`}>
      {slow.isPending && <LoadingSkeleton lines={3} />}
      {slow.isError && !slow.data && <ErrorAlert error={slow.error} onRetry={() => slow.refetch()} />}
      {slow.data?.length === 0 && <Text size="sm" c="dimmed">{t`No deliveries in the last hour.`}</Text>}
      {slow.data && slow.data.length > 0 && (
        <ScrollingTable
          minWidth={560}
          style={tabular}
          items={slow.data}
          keyOf={({ endpointId }) => endpointId}
          columns={[
            { title: t`Endpoint`, cell: ({ host }) => host, td: ({ endpointId }) => ({ title: endpointId }) },
            { title: t`Account`, cell: ({ accountName }) => accountName },
            { title: t`Average`, ta: 'right', cell: ({ averageMilliseconds: average }) => describeDuration(average) },
            { title: t`Slowest`, ta: 'right', cell: ({ slowestMilliseconds: slowest }) => describeDuration(slowest) },
            { title: t`Attempts`, ta: 'right', cell: ({ attempts }) => formatNumber(attempts) },
            {
              title: t({ message: 'Failed', context: 'number of attempts' }),
              ta: 'right',
              cell: ({ failed }) => formatNumber(failed),
            },
          ]}
        />
      )}
    </Section>
  )
}

/** A worker claims a delivery within a second of its due time. */
const lateSeconds = 60

interface Fact {
  name: string
  value: string
  detail: string
  isBad?: boolean
}

/** The key figures of the server. */
function ServerFacts() {
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
      detail: plural(queue.waiting, { one: '# delivery waiting', other: '# deliveries waiting' }),
      isBad: queue.lagSeconds > lateSeconds,
    },
    {
      name: t`Failing endpoints`,
      value: formatNumber(queue.failingEndpoints),
      detail: queue.failingEndpoints === 0 ? t`None failing` : t`Last attempt failed`,
      isBad: queue.failingEndpoints > 0,
    },
    {
      name: t`Outcome unknown`,
      value: formatNumber(pending.count),
      detail:
        pending.count === 0
          ? t`No messages`
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
    <Box component="dl" className={styles['figures'] ?? ''}>
      {shown.map(({ name, value, detail, isBad = false }) => (
        <Paper key={name} radius={0} className={styles['figure'] ?? ''}>
          <Text component="dt" size="sm" c="dimmed" fw={500}>
            {name}
          </Text>
          <Text
            component="dd"
            m={0}
            mt={2}
            className={styles['value'] ?? ''}
            c={isBad ? 'var(--mantine-color-error)' : undefined}
          >
            {value}
          </Text>
          <Text component="dd" m={0} size="xs" c="dimmed">
            {detail}
          </Text>
        </Paper>
      ))}
    </Box>
  )
}
