import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { showInForm } from '../../api/failure.ts'
import { translate } from '../../language/i18n.ts'
import { SignedOutLayout } from '../../layout/signed-out-layout.tsx'
import { PendingSignInExpired } from '../../session/auth-request.ts'
import { codeNeeded, readReturnPath, signIn, useSignInOptions } from '../../session/sign-in.ts'
import { verifyBackupCode, verifyCode } from '../../session/two-factor.ts'
import { checkCode, CodeField, PasswordField, readCode, takeFocus } from '../../ui/fields.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { describeOrganisationError, OrganisationSignIn } from './organisation-sign-in.tsx'
import { Form } from '../../ui/form.tsx'
import { TextLink } from '../../ui/button.tsx'

export function SignInPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const { organisation } = useSignInOptions()
  const state: unknown = useLocation().state
  const [needsCode, setNeedsCode] = useState(state === codeNeeded)
  const [problem, setProblem] = useState(() => describeOrganisationError(search.get('error')))
  const returnPath = readReturnPath(search)
  const linkProblem = describeLinkError(returnPath)
  const to = linkProblem === undefined ? returnPath : '/'
  const enter = async () => {
    // The cache may hold data of another user.
    queryClient.clear()
    await navigate(to, { replace: true })
  }
  const restart = (reason?: string) => {
    setProblem(reason)
    setNeedsCode(false)
  }
  if (needsCode) return <CodeStep onSignedIn={enter} onRestart={restart} />
  return (
    <SignedOutLayout title={t`Sign in`} description={to === '/' ? undefined : t`Sign in to view this page.`}>
      <Stack>
        {linkProblem !== undefined && <ErrorAlert title={t`This link does not work`} error={linkProblem} />}
        {problem !== undefined && <ErrorAlert title={t`Sign-in failed`} error={problem} />}
        <PasswordForm onProblem={setProblem} onSignedIn={enter} onCodeNeeded={() => setNeedsCode(true)} />
        {organisation !== undefined && (
          <OrganisationSignIn organisation={organisation} to={to} onProblem={setProblem} />
        )}
      </Stack>
    </SignedOutLayout>
  )
}

/**
 * Describes the error that a sign-in link of the sandbox ended with; better-auth appends it to the page that the link
 * opens. Other servers have no such links.
 */
function describeLinkError(path: string): string | undefined {
  const code = new URLSearchParams(path.split('?', 2)[1]).get('error')
  if (code !== 'INVALID_TOKEN' && code !== 'EXPIRED_TOKEN') return undefined
  return t`A sign-in link of the sandbox works once and for 24 hours, and this one was already used or has expired. Stop the sandbox with Ctrl+C and run npm start again: it prints a new link and keeps the data.`
}

interface PasswordFormProps {
  /** An error that belongs to no field; undefined when a new attempt starts. */
  onProblem: (problem: string | undefined) => void
  onSignedIn: () => Promise<void>
  /** The password was correct, and a code is needed. */
  onCodeNeeded: () => void
}

function PasswordForm({ onProblem, onSignedIn, onCodeNeeded }: PasswordFormProps) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: {
      email: (email) => (email.trim() === '' ? t`Enter your email address.` : null),
      password: (password) => (password === '' ? t`Enter your password.` : null),
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
    <Form onSubmit={submit}>
      <TextInput label={t`Email address`} type="email" autoComplete="username" {...form.getInputProps('email')} />
      <PasswordField label={t`Password`} autoComplete="current-password" {...form.getInputProps('password')} />
      <Button type="submit" loading={attempt.isPending}>{t`Sign in`}</Button>
      <TextLink to="/forgot-password" size="sm" ta="center">{t`Forgot password?`}</TextLink>
    </Form>
  )
}

interface CodeStepProps {
  onSignedIn: () => Promise<void>
  /** The password must be entered again, for the given reason or because the user chose to. */
  onRestart: (reason?: string) => void
}

function CodeStep({ onSignedIn, onRestart }: CodeStepProps) {
  const [kind, setKind] = useState<CodeKind>('app')
  const { description, other, toOther } = kinds[kind]
  return (
    <SignedOutLayout title={t`Enter your code`} description={translate(description)}>
      <CodeForm key={kind} kind={kind} onSignedIn={onSignedIn} onExpired={onRestart} />
      <Stack gap="xs" mt="lg" align="center">
        <Anchor component="button" type="button" size="sm" onClick={() => setKind(other)}>
          {translate(toOther)}
        </Anchor>
        <Anchor component="button" type="button" size="sm" onClick={() => onRestart()}>
          <Trans>Sign in as a different user</Trans>
        </Anchor>
      </Stack>
    </SignedOutLayout>
  )
}

type CodeKind = keyof typeof kinds

interface CodeFormProps {
  kind: CodeKind
  onSignedIn: () => Promise<void>
  /** The password must be entered again, for this reason. */
  onExpired: (reason: string) => void
}

/** The second sign-in step, for users with an authenticator app. */
function CodeForm({ kind, onSignedIn, onExpired }: CodeFormProps) {
  const { verify, check, label, field } = kinds[kind]
  const [problem, setProblem] = useState<string>()
  const form = useForm({ mode: 'uncontrolled', initialValues: { code: '' }, validate: { code: check } })
  const attempt = useMutation({
    mutationFn: verify,
    onSuccess: onSignedIn,
    onError: (error) => {
      if (error instanceof PendingSignInExpired) return onExpired(error.message)
      setProblem(showInForm(form, error))
      form.getInputNode('code')?.focus()
    },
  })
  const submit = form.onSubmit(({ code }) => {
    setProblem(undefined)
    attempt.mutate(readCode(code))
  })
  return (
    <Form onSubmit={submit} failure={t`Sign-in failed`} problem={problem}>
      <CodeField label={translate(label)} {...field} ref={takeFocus} {...form.getInputProps('code')} />
      <Button type="submit" loading={attempt.isPending}>{t`Sign in`}</Button>
    </Form>
  )
}

const kinds = {
  app: {
    description: msg`Enter the code that your authenticator app shows for Waybill.`,
    verify: verifyCode,
    check: checkCode,
    label: msg`Six-digit code`,
    field: {},
    other: 'backup',
    toOther: msg`Use a backup code instead`,
  },
  backup: {
    description: msg`Enter one of the backup codes you saved when you set up your authenticator app. Each code works once.`,
    verify: verifyBackupCode,
    check: (typed: string) => (readCode(typed) === '' ? t`Enter one of your backup codes.` : null),
    label: msg`Backup code`,
    field: { autoComplete: 'off', inputMode: 'text' },
    other: 'app',
    toOther: msg`Use the authenticator app instead`,
  },
} as const
