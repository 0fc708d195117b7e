import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { translate } from '../../language/i18n.ts'
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
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title={t`Sign-in failed`} error={problem} />}
        <CodeField
          label={translate(label)}
          {...field}
          ref={takeFocus}
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <Button type="submit" loading={attempt.isPending}>
          <Trans>Sign in</Trans>
        </Button>
      </Stack>
    </form>
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
