import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { List, Switch, Text } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { formatList } from '../../language/format.ts'
import { api } from '../../api/client.ts'
import { notifyFailureMessage, notifySuccess, useChange, useChoice } from '../../api/use-change.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Section, useHashTarget } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { alertsKey } from './use-alerts.ts'

/** Each member, including viewers, decides for themselves. Owners also see who else receives alerts. */
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
      title={t`Email`}
      description={
        data?.emails === false
          ? t`Email is not set up on this server. Ask the person who runs Waybill to set an SMTP server (SMTP_URL). Until then, alerts can be posted to a chat, and are always listed above.`
          : t`Sends the problems below by email, warnings and critical ones. Each member decides for themselves.`
      }
      actions={data?.emails === true && viewedUntil === undefined && <TestButton />}
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

function TestButton() {
  const { accountId } = useAccount()
  const test = useChange({
    change: () => api.alert.testEmail.mutate({ accountId }),
    invalidates: [],
    onDone: ({ queued, to }) =>
      queued
        ? notifySuccess(t`A test email is on its way to ${to}. It arrives within a minute or so.`)
        : notifyFailureMessage(t`This server sends no email.`),
  })
  return <Button variant="default" icon={IconSend} change={test}>{t`Send test email`}</Button>
}

function OwnSwitch({ receives }: { receives: boolean }) {
  const { accountId } = useAccount()
  const { email } = useUser()
  const save = useChoice(receives, {
    change: (wanted: boolean) => api.alert.setEmails.mutate({ accountId, receives: wanted }),
    invalidates: [alertsKey(accountId)],
    done: (saved) => (saved.receives ? t`You get alerts by email.` : t`You get no alerts by email.`),
  })
  return (
    <Switch
      label={t`Send me the alerts of this account`}
      description={t`To ${email}.`}
      checked={save.shown}
      onChange={({ currentTarget }) => save.choose(currentTarget.checked)}
    />
  )
}

function Members({ members }: { members: { email: string; receives: boolean }[] }) {
  const receiving = members.filter(({ receives }) => receives)
  const others = members.filter(({ receives }) => !receives)
  return (
    <>
      <Text size="sm" fw={600} mt="lg" mb={4}>{t`Who receives them`}</Text>
      {receiving.length === 0 ? (
        <Text size="sm" c="var(--mantine-color-error)">
          <Trans>Nobody receives alerts by email, even if a number stops working.</Trans>
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
          <Trans>Turned off by {formatList(others.map(({ email }) => email))}.</Trans>
        </Text>
      )}
    </>
  )
}
