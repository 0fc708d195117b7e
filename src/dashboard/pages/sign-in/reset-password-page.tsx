import { t } from '@lingui/core/macro'
import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from 'react-router'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { notifyFailureMessage, notifySuccess, useFormChange } from '../../api/use-change.ts'
import { SignedOutLayout } from '../../layout/signed-out-layout.tsx'
import { codeNeeded, type Destination, signIn } from '../../session/sign-in.ts'
import { PasswordField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { TextLink } from '../../ui/button.tsx'

/** The page that the link in an email opens. */
export function ResetPasswordPage() {
  const token = useParams()['token'] ?? ''
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: { password: (password) => (password === '' ? t`Enter a new password.` : null) },
  })
  const reset = useFormChange(form, {
    change: ({ password }: { password: string }) => resetPassword({ token, password }),
    invalidates: [],
    onDone: async ({ path, state }) => {
      // The cache may hold data of another user.
      queryClient.clear()
      if (path === '/') notifySuccess(t`Your password is set.`)
      await navigate(path, { replace: true, state })
    },
  })
  return (
    <SignedOutLayout title={t`Set a new password`} description={t`This ends all your sessions on other devices.`}>
      <Form onSubmit={form.onSubmit(reset.submit)} failure={t`Password not set`} problem={reset.problem}>
        <PasswordField
          label={t`New password`}
          description={t`At least 12 characters.`}
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={reset.isPending}>{t`Set password and sign in`}</Button>
        <TextLink to="/forgot-password" size="sm" ta="center">{t`Ask for a new link`}</TextLink>
      </Form>
    </SignedOutLayout>
  )
}

/** Sets the password and signs in with it. Returns the page to open. */
async function resetPassword(credentials: { token: string; password: string }): Promise<Destination> {
  const { email } = await api.password.reset.mutate(credentials)
  // The password is set. Errors from here on concern only the sign-in.
  try {
    const { needsCode } = await signIn({ email, password: credentials.password })
    return needsCode ? { path: '/sign-in', state: codeNeeded } : { path: '/' }
  } catch (error) {
    notifyFailureMessage(`${t`Your password is set, but you are not signed in yet.`} ${readFailure(error).message}`)
    return { path: '/sign-in' }
  }
}
