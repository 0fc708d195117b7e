import { Box, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { showInForm } from '../../api/form-failure.ts'
import { changePassword } from '../../api/sign-in.ts'
import { useChange } from '../../api/use-change.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { PasswordField } from '../../ui/password-field.tsx'

const empty = { currentPassword: '', newPassword: '' }

export function ChangePasswordForm({ email }: { email: string }) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: empty,
    validate: {
      currentPassword: (password) => (password === '' ? 'Type your current password.' : null),
      newPassword: (password) => (password === '' ? 'Type a new password.' : null),
    },
  })
  const change = useChange({
    change: changePassword,
    invalidates: [],
    done: 'Your password is changed. Every other session has ended.',
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
        {problem !== undefined && <ErrorAlert title="Your password is unchanged" error={problem} />}
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
