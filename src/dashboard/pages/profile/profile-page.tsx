import { Box, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
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

const roleNames = { owner: 'Owner', viewer: 'Viewer' }

export function ProfilePage() {
  const { name, email, accounts } = useUser()
  return (
    <>
      <PageHeader title="Profile" description="Your personal details and sign-in settings." />
      <Section title="Details">
        <DescriptionList
          items={[
            { name: 'Name', value: name },
            { name: 'Email', value: email },
          ]}
        />
      </Section>
      {accounts.length > 0 && (
        <Section title="Your accounts" description="Owners have full access. Viewers have read-only access.">
          <DescriptionList
            items={accounts.map(({ accountId, name, role }) => ({ id: accountId, name, value: roleNames[role] }))}
          />
        </Section>
      )}
      <Section title="Change password" description="Changing your password ends all your other sessions.">
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
      currentPassword: (password) => (password === '' ? 'Enter your current password.' : null),
      newPassword: (password) => (password === '' ? 'Enter a new password.' : null),
    },
  })
  const change = useChange({
    change: changePassword,
    invalidates: [sessionsKey],
    done: 'Password changed. All other sessions have ended.',
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
        {problem !== undefined && <ErrorAlert title="Password not changed" error={problem} />}
        <input type="hidden" autoComplete="username" name="username" value={email} readOnly />
        <PasswordField
          label="Current password"
          autoComplete="current-password"
          key={form.key('currentPassword')}
          {...form.getInputProps('currentPassword')}
        />
        <PasswordField
          label="New password"
          description="At least 12 characters."
          autoComplete="new-password"
          key={form.key('newPassword')}
          {...form.getInputProps('newPassword')}
        />
        <Box>
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </Box>
      </Stack>
    </form>
  )
}
