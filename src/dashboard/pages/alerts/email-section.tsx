import { List, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { Section, useHashTarget } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { alertsKey } from './use-alerts.ts'

/** Each member decides for themselves, viewers too. Owners also see who else gets the alerts. */
export function EmailSection() {
  const { accountId, viewedUntil } = useAccount()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...alertsKey(accountId), 'recipients'],
    queryFn: ({ signal }) => api.alert.recipients.query({ accountId }, { signal }),
  })
  useHashTarget(data !== undefined)
  return (
    <Section
      id="email"
      title="Email"
      description={
        data?.emails === false
          ? 'This server does not send email. The operator can set up an SMTP server (SMTP_URL).'
          : 'Alerts of this account by email. Each member decides for themselves.'
      }
    >
      {data?.emails !== false && (
        <>
          {isPending && <LoadingSkeleton lines={2} />}
          {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
          {data && viewedUntil === undefined && <OwnSwitch receives={data.receives} />}
          {data?.members && <Members members={data.members} />}
        </>
      )}
    </Section>
  )
}

function OwnSwitch({ receives }: { receives: boolean }) {
  const { accountId } = useAccount()
  const { email } = useUser()
  const save = useChange({
    change: (wanted: boolean) => api.alert.setEmails.mutate({ accountId, receives: wanted }),
    invalidates: [alertsKey(accountId)],
    done: (saved) => (saved.receives ? 'You get alerts by email.' : 'You get no alerts by email.'),
  })
  return (
    <Switch
      label="Send me the alerts of this account"
      description={`To ${email}.`}
      checked={save.isPending ? save.variables : receives}
      onChange={({ currentTarget }) => save.mutate(currentTarget.checked)}
    />
  )
}

function Members({ members }: { members: { email: string; receives: boolean }[] }) {
  const receiving = members.filter(({ receives }) => receives)
  const others = members.filter(({ receives }) => !receives)
  return (
    <>
      <Text size="sm" fw={600} mt="lg" mb={4}>
        Who receives them
      </Text>
      {receiving.length === 0 ? (
        <Text size="sm" c="var(--mantine-color-error)">
          Nobody receives alerts by email, even if a number stops working.
        </Text>
      ) : (
        <List size="sm" style={{ overflowWrap: 'anywhere' }}>
          {receiving.map(({ email }) => (
            <List.Item key={email}>{email}</List.Item>
          ))}
        </List>
      )}
      {others.length > 0 && (
        <Text size="sm" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
          Turned off by {others.map(({ email }) => email).join(', ')}.
        </Text>
      )}
    </>
  )
}
