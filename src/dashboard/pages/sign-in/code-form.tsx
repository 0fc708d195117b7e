import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { showInForm } from '../../api/form-failure.ts'
import { signInWithCode } from '../../api/sign-in.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'

/** The second step, for those who have set up an authenticator app. */
export function CodeForm({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: (code) => (code.trim() === '' ? 'Type a code.' : null) },
  })
  const attempt = useMutation({
    mutationFn: signInWithCode,
    onSuccess: onSignedIn,
    onError: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ code }) => {
    setProblem(undefined)
    attempt.mutate(code.replaceAll(/\s/g, ''))
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title="You are not signed in" error={problem} />}
        <TextInput
          label="Code"
          description="Without your phone, type one of your backup codes."
          autoComplete="one-time-code"
          ref={focus}
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <Button type="submit" loading={attempt.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

/** It is all that there is to do here. */
function focus(field: HTMLInputElement | null): void {
  field?.focus()
}
