import { t } from '@lingui/core/macro'
import { Anchor, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { readFailure, showInForm } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { notifyFailureMessage, notifySuccess } from '../../api/use-change.ts'
import { SignedOutLayout } from '../../layout/signed-out-layout.tsx'
import { codeNeeded, signIn } from '../../session/sign-in.ts'
import { PasswordField } from '../../ui/fields.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'

/** The page that the link in an email opens. */
export function ResetPasswordPage() {
  const token = useParams()['token'] ?? ''
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: { password: (password) => (password === '' ? t`Enter a new password.` : null) },
  })
  const reset = useResetPassword({ onFailure: (error) => setProblem(showInForm(form, error)) })
  const submit = form.onSubmit(({ password }) => {
    setProblem(undefined)
    reset.mutate({ token, password })
  })
  return (
    <SignedOutLayout title={t`Set a new password`} description={t`This ends all your sessions on other devices.`}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {problem !== undefined && <ErrorAlert title={t`Password not set`} error={problem} />}
          <PasswordField
            label={t`New password`}
            description={t`At least 12 characters.`}
            autoComplete="new-password"
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={reset.isPending}>{t`Set password and sign in`}</Button>
          <Anchor component={Link} to="/forgot-password" size="sm" ta="center">{t`Ask for a new link`}</Anchor>
        </Stack>
      </form>
    </SignedOutLayout>
  )
}

/** Sets the password and signs in with it. */
function useResetPassword({ onFailure }: { onFailure: (error: unknown) => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async ({ token, password }: { token: string; password: string }) => {
      const { email } = await api.password.reset.mutate({ token, password })
      // The password is set. Errors from here on concern only the sign-in.
      try {
        const { needsCode } = await signIn({ email, password })
        return needsCode ? { path: '/sign-in', state: codeNeeded } : { path: '/' }
      } catch (error) {
        notifyFailureMessage(`${t`Your password is set, but you are not signed in yet.`} ${readFailure(error).message}`)
        return { path: '/sign-in' }
      }
    },
    onSuccess: async ({ path, state }) => {
      // The cache may hold data of another user.
      queryClient.clear()
      if (path === '/') notifySuccess(t`Your password is set.`)
      await navigate(path, { replace: true, state })
    },
    onError: onFailure,
  })
}
