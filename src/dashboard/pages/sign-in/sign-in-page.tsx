import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearchParams } from 'react-router'
import { readFailure } from '../../api/failure.ts'
import { signIn } from '../../api/sign-in.ts'
import { SignInError } from '../../api/sign-in-error.ts'
import { readWayBack } from '../../session/way-back.ts'
import { DoorPage } from '../../layout/door-page.tsx'

export function SignInPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [search] = useSearchParams()
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
    onSuccess: async () => {
      // Whoever was here before may have been somebody else.
      queryClient.clear()
      await navigate(readWayBack(search), { replace: true })
    },
    onError: (error) => {
      if (error instanceof SignInError && error.field) form.setFieldError(error.field, error.message)
    },
  })
  const refusal = attempt.error && !(attempt.error instanceof SignInError && attempt.error.field) ? attempt.error : null
  return (
    <DoorPage title="Sign in">
      <form onSubmit={form.onSubmit((values) => attempt.mutate({ ...values, email: values.email.trim() }))} noValidate>
        <Stack>
          {refusal && (
            <Alert color="red" role="alert">
              {readFailure(refusal).message}
            </Alert>
          )}
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            key={form.key('email')}
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
            key={form.key('password')}
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={attempt.isPending}>
            Sign in
          </Button>
        </Stack>
      </form>
    </DoorPage>
  )
}
