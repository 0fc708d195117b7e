import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { showInForm } from '../../api/form-failure.ts'
import { signIn } from '../../api/sign-in.ts'
import { DoorPage } from '../../layout/door-page.tsx'
import { readWayBack } from '../../session/way-back.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { PasswordField } from '../../ui/password-field.tsx'

export function SignInPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const [problem, setProblem] = useState<string>()
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
    onError: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ email, password }) => {
    setProblem(undefined)
    attempt.mutate({ email: email.trim(), password })
  })
  return (
    <DoorPage title="Sign in" description={search.has('to') ? 'Sign in to see this page.' : undefined}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {problem !== undefined && <ErrorAlert title="You are not signed in" error={problem} />}
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
    </DoorPage>
  )
}
