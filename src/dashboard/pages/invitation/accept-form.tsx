import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { z } from 'zod'
import type { Invitation } from '../../../../contracts/settings/owner.ts'
import { showInForm } from '../../api/form-failure.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { useAcceptInvitation } from './use-accept-invitation.ts'

interface AcceptFormProps {
  token: string
  invitation: z.output<typeof Invitation>
}

export function AcceptForm({ token, invitation }: AcceptFormProps) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Type your name.' : null) },
  })
  const accept = useAcceptInvitation(invitation, { onFailure: (error) => setProblem(showInForm(form, error)) })
  const submit = form.onSubmit(({ name, password }) => {
    setProblem(undefined)
    accept.mutate({ token, name: name.trim(), password })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack mt="lg">
        {problem !== undefined && <ErrorAlert title="The invitation was not accepted" error={problem} />}
        {/* For the browser's password manager, which would take the name for the one to sign in with. */}
        <input type="hidden" autoComplete="username" name="username" value={invitation.email} readOnly />
        <TextInput label="Your name" autoComplete="name" key={form.key('name')} {...form.getInputProps('name')} />
        <PasswordField
          label="Password"
          description="At least 12 characters. If you can sign in here already, your present password."
          autoComplete="new-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={accept.isPending}>
          Accept and sign in
        </Button>
      </Stack>
    </form>
  )
}
