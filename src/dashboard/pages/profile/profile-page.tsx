import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { translate } from '../../language/i18n.ts'
import { showInForm } from '../../api/failure.ts'
import { useChange } from '../../api/use-change.ts'
import { useUser } from '../../session/session.ts'
import { changePassword } from '../../session/sign-in.ts'
import { DescriptionList } from '../../ui/description-list.tsx'
import { PasswordField } from '../../ui/fields.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { AuthenticatorSection } from './authenticator-section.tsx'
import { SessionsSection, sessionsKey } from './sessions-section.tsx'

const roleNames = { owner: msg`Owner`, viewer: msg`Viewer` }

export function ProfilePage() {
  const { name, email, accounts } = useUser()
  return (
    <>
      <PageHeader title={t`Profile`} description={t`Your personal details and sign-in settings.`} />
      <Section title={t`Details`}>
        <DescriptionList
          items={[
            { name: t`Name`, value: name },
            { name: t`Email`, value: email },
          ]}
        />
      </Section>
      {accounts.length > 0 && (
        <Section title={t`Your accounts`} description={t`Owners have full access. Viewers have read-only access.`}>
          <DescriptionList
            items={accounts.map(({ accountId, name, role }) => ({
              id: accountId,
              name,
              value: translate(roleNames[role]),
            }))}
          />
        </Section>
      )}
      <Section title={t`Change password`} description={t`Changing your password ends all your other sessions.`}>
        <ChangePasswordForm email={email} />
      </Section>
      <AuthenticatorSection />
      <SessionsSection />
    </>
  )
}

const empty = { currentPassword: '', newPassword: '' }

function ChangePasswordForm({ email }: { email: string }) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: empty,
    validate: {
      currentPassword: (password) => (password === '' ? t`Enter your current password.` : null),
      newPassword: (password) => (password === '' ? t`Enter a new password.` : null),
    },
  })
  const change = useChange({
    change: changePassword,
    invalidates: [sessionsKey],
    done: t`Password changed. All other sessions have ended.`,
    onDone: () => form.reset(),
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit((passwords) => {
    setProblem(undefined)
    change.mutate(passwords)
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={400}>
        {problem !== undefined && <ErrorAlert title={t`Password not changed`} error={problem} />}
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
          <Button type="submit" loading={change.isPending}>
            <Trans>Change password</Trans>
          </Button>
        </Box>
      </Stack>
    </form>
  )
}
