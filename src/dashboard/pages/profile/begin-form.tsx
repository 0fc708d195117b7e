import { Button, Group, Stack, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { showInForm } from '../../api/form-failure.ts'
import { beginAuthenticator, type NewAuthenticator } from '../../api/sign-in-two-factor.ts'
import { useChange } from '../../api/use-change.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { takeFocus } from '../../ui/take-focus.ts'

interface BeginFormProps {
  onBegun: (authenticator: NewAuthenticator) => void
  onCancel: () => void
}

export function BeginForm({ onBegun, onCancel }: BeginFormProps) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '' },
    validate: { currentPassword: (password) => (password === '' ? 'Type your password.' : null) },
  })
  const begin = useChange({
    change: beginAuthenticator,
    invalidates: [],
    onDone: onBegun,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ currentPassword }) => {
    setProblem(undefined)
    begin.mutate(currentPassword)
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={400}>
        <Title order={3}>1. Show that it is you</Title>
        {problem !== undefined && <ErrorAlert title="The set-up has not begun" error={problem} />}
        <PasswordField
          label="Your password"
          autoComplete="current-password"
          ref={takeFocus}
          key={form.key('currentPassword')}
          {...form.getInputProps('currentPassword')}
        />
        <Group gap="sm">
          <Button type="submit" loading={begin.isPending}>
            Continue
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
