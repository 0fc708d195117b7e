import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { showInForm } from '../../api/form-failure.ts'
import { signIn } from '../../api/sign-in.ts'
import { PasswordField } from '../../ui/password-field.tsx'

interface PasswordFormProps {
  /** What belongs to no field of it; undefined when another try begins. */
  onProblem: (problem: string | undefined) => void
  onSignedIn: () => Promise<void>
  /** The password was right, and is not enough. */
  onCodeNeeded: () => void
}

export function PasswordForm({ onProblem, onSignedIn, onCodeNeeded }: PasswordFormProps) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: {
      email: (email) => (email.trim() === '' ? 'Type your e-mail address.' : null),
      password: (password) => (password === '' ? 'Type your password.' : null),
    },
  })
  const attempt = useMutation({
    mutationFn: signIn,
    onSuccess: ({ needsCode }) => (needsCode ? onCodeNeeded() : onSignedIn()),
    onError: (error) => onProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ email, password }) => {
    onProblem(undefined)
    attempt.mutate({ email: email.trim(), password })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username"
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordField
          label="Password"
          autoComplete="current-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={attempt.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}
