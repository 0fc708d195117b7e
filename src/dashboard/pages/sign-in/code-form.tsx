import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { showInForm } from '../../api/form-failure.ts'
import { PendingSignInEnded } from '../../api/sign-in-error.ts'
import { verifyBackupCode, verifyCode } from '../../api/sign-in-two-factor.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { takeFocus } from '../../ui/take-focus.ts'
import { checkCode, CodeField, readCode } from './code-field.tsx'

export type CodeKind = keyof typeof kinds

interface CodeFormProps {
  kind: CodeKind
  onSignedIn: () => Promise<void>
  /** The password has to be typed again, for this reason. */
  onEnded: (reason: string) => void
}

/** The second step, for those who have set up an authenticator app. */
export function CodeForm({ kind, onSignedIn, onEnded }: CodeFormProps) {
  const { verify, check, field } = kinds[kind]
  const [problem, setProblem] = useState<string>()
  const form = useForm({ mode: 'uncontrolled', initialValues: { code: '' }, validate: { code: check } })
  const attempt = useMutation({
    mutationFn: verify,
    onSuccess: onSignedIn,
    onError: (error) => {
      if (error instanceof PendingSignInEnded) return onEnded(error.message)
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
        {problem !== undefined && <ErrorAlert title="You are not signed in" error={problem} />}
        <CodeField {...field} ref={takeFocus} key={form.key('code')} {...form.getInputProps('code')} />
        <Button type="submit" loading={attempt.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

const kinds = {
  app: { verify: verifyCode, check: checkCode, field: { label: 'Six-digit code' } },
  backup: {
    verify: verifyBackupCode,
    check: (typed: string) => (readCode(typed) === '' ? 'Type one of your backup codes.' : null),
    field: { label: 'Backup code', autoComplete: 'off', inputMode: 'text' },
  },
} as const
