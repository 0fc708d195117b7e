import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Group } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import type { Session } from '../../../../contracts/dashboard/session.ts'
import { api } from '../../api/client.ts'
import { useChange, useFormChange } from '../../api/use-change.ts'
import { say } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import { useUser } from '../../session/session.ts'
import { changePassword } from '../../session/sign-in.ts'
import { LabelBadge } from '../../ui/badges.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { DescriptionList, Item, ItemList } from '../../ui/lists.tsx'
import { PasswordField } from '../../ui/fields.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { ItemsSkeleton } from '../../ui/skeletons.tsx'
import { AuthenticatorSection } from './authenticator-section.tsx'
import { Form } from '../../ui/form.tsx'

const roleNames = { owner: msg`Owner of`, viewer: msg`Viewer of` }

export function ProfilePage() {
  const { name, email, accounts, hasPassword } = useUser()
  return (
    <>
      <PageHeader title={t`Profile`} description={t`Your personal details and sign-in settings.`} />
      <Section title={t`Details`}>
        <DescriptionList
          items={[
            { name: t`Name`, value: name },
            { name: t`Email`, value: email },
            ...accounts.map((account) => ({
              id: account.accountId,
              name: translate(roleNames[account.role]),
              value: account.name,
            })),
          ]}
        />
      </Section>
      {hasPassword ? (
        <Section title={t`Change password`} description={t`Changing your password ends all your other sessions.`}>
          <ChangePasswordForm email={email} />
        </Section>
      ) : (
        <Section title={t`Password`} description={t`You have none: you signed in by a link or with your organisation.`}>
          <CopyField
            wraps
            label={t`Choose a password`}
            description={t`Ask an operator of this server for a link, which this command prints.`}
            value={`waybill owner reset-password ${accounts[0]?.accountId ?? 'acc_…'} --email ${email}`}
          />
        </Section>
      )}
      <AuthenticatorSection />
      <SessionsSection />
    </>
  )
}

const empty = { currentPassword: '', newPassword: '' }

function ChangePasswordForm({ email }: { email: string }) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: empty,
    validate: {
      currentPassword: (password) => (password === '' ? t`Enter your current password.` : null),
      newPassword: (password) => (password === '' ? t`Enter a new password.` : null),
    },
  })
  const change = useFormChange(form, {
    change: changePassword,
    invalidates: [sessionsKey],
    done: t`Password changed. All other sessions have ended.`,
    onDone: () => form.reset(),
  })
  return (
    <Form onSubmit={form.onSubmit(change.submit)} maw={400} failure={t`Password not changed`} problem={change.problem}>
      <input type="hidden" autoComplete="username" name="username" value={email} readOnly />
      <PasswordField
        label={t`Current password`}
        autoComplete="current-password"
        key={form.key('currentPassword')}
        {...form.getInputProps('currentPassword')}
      />
      <PasswordField
        label={t`New password`}
        description={t`At least 12 characters.`}
        autoComplete="new-password"
        key={form.key('newPassword')}
        {...form.getInputProps('newPassword')}
      />
      <Box>
        <Button type="submit" loading={change.isPending}>{t`Change password`}</Button>
      </Box>
    </Form>
  )
}

const sessionsKey = ['sessions']
const refreshMilliseconds = 10_000

function SessionsSection() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => api.session.list.query({}, { signal }),
    refetchInterval: refreshMilliseconds,
  })
  const revokeOthers = useChange({
    change: () => api.session.revokeOthers.mutate({}),
    invalidates: [sessionsKey],
    done: t`All other sessions have ended.`,
  })
  const hasOthers = data?.items.some(({ current }) => !current) === true
  return (
    <Section
      title={t`Sessions`}
      description={t`Where you are signed in. A session ends one week after sign-in. If you do not recognise one, end it and change your password.`}
      actions={hasOthers && <Button variant="default" change={revokeOthers}>{t`End all other sessions`}</Button>}
    >
      {isPending && <ItemsSkeleton items={2} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      <ItemList label={t`Sessions`}>
        {data?.items.map((session) => (
          <SessionItem key={session.sessionId} session={session} />
        ))}
      </ItemList>
    </Section>
  )
}

function SessionItem({ session }: { session: Session }) {
  const { sessionId, address, signedInAt, lastSeenAt, current } = session
  const device = say(session, 'device')
  const revoke = useChange({
    change: () => api.session.revoke.mutate({ sessionId }),
    invalidates: [sessionsKey],
    done: t`Session ended.`,
  })
  return (
    <Item
      name={
        <Group gap="xs">
          {device}
          {current && <LabelBadge>{t`This session`}</LabelBadge>}
        </Group>
      }
      description={
        <Trans>
          {address}, last seen <DateTime at={lastSeenAt} />, signed in <DateTime at={signedInAt} />
        </Trans>
      }
    >
      {!current && (
        <Button variant="default" change={revoke} aria-label={t`End the session of ${device} from ${address}`}>
          <Trans>End session</Trans>
        </Button>
      )}
    </Item>
  )
}
