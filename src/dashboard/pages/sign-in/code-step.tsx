import { Anchor, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { showInForm } from '../../api/failure.ts'
import { SignedOutLayout } from '../../layout/signed-out-layout.tsx'
import { PendingSignInExpired } from '../../session/auth-request.ts'
import { verifyBackupCode, verifyCode } from '../../session/two-factor.ts'
import { checkCode, CodeField, readCode, takeFocus } from '../../ui/fields.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'

interface CodeStepProps {
  onSignedIn: () => Promise<void>
  /** The password must be entered again, for the given reason or because the user chose to. */
  onRestart: (reason?: string) => void
}

export function CodeStep({ onSignedIn, onRestart }: CodeStepProps) {
  const [kind, setKind] = useState<CodeKind>('app')
  const { description, other, toOther } = kinds[kind]
  return (
    <SignedOutLayout title="Enter your code" description={description}>
      <CodeForm key={kind} kind={kind} onSignedIn={onSignedIn} onExpired={onRestart} />
      <Stack gap="xs" mt="lg" align="center">
        <Anchor component="button" type="button" size="sm" onClick={() => setKind(other)}>
          {toOther}
        </Anchor>
        <Anchor component="button" type="button" size="sm" onClick={() => onRestart()}>
          Sign in as a different user
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
  const { verify, check, field } = kinds[kind]
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
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title="Sign-in failed" error={problem} />}
        <CodeField {...field} ref={takeFocus} key={form.key('code')} {...form.getInputProps('code')} />
        <Button type="submit" loading={attempt.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

const kinds = {
  app: {
    description: 'Enter the code that your authenticator app shows for Waybill.',
    verify: verifyCode,
    check: checkCode,
    field: { label: 'Six-digit code' },
    other: 'backup',
    toOther: 'Use a backup code instead',
  },
  backup: {
    description:
      'Enter one of the backup codes you saved when you set up your authenticator app. Each code works once.',
    verify: verifyBackupCode,
    check: (typed: string) => (readCode(typed) === '' ? 'Enter one of your backup codes.' : null),
    field: { label: 'Backup code', autoComplete: 'off', inputMode: 'text' },
    other: 'app',
    toOther: 'Use the authenticator app instead',
  },
} as const
