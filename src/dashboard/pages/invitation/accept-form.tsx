import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { z } from 'zod'
import type { Invitation } from '../../../../contracts/dashboard/owner.ts'
import { showInForm } from '../../api/form-failure.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { OrganisationButton } from '../sign-in/organisation-button.tsx'
import { useAcceptInvitation } from './use-accept-invitation.ts'

interface AcceptFormProps {
  token: string
  invitation: z.output<typeof Invitation>
  /** The host of the organisation's provider, where there is one. */
  organisation: string | undefined
}

export function AcceptForm({ token, invitation, organisation }: AcceptFormProps) {
  const [problem, setProblem] = useState<string>()
  const { setsPassword } = invitation
  const [choosesPassword, setChoosesPassword] = useState(setsPassword || organisation === undefined)
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: { name: (name) => (!setsPassword && name.trim() === '' ? 'Type your name.' : null) },
  })
  const accept = useAcceptInvitation(invitation, {
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ name, password }) => {
    setProblem(undefined)
    accept.mutate({ token, ...(!setsPassword && { name: name.trim() }), ...(choosesPassword && { password }) })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack mt="lg">
        {problem !== undefined && (
          <ErrorAlert
            title={setsPassword ? 'Your password is not set' : 'The invitation was not accepted'}
            error={problem}
          />
        )}
        {/* For the browser's password manager, which would take the name for the one to sign in with. */}
        <input type="hidden" autoComplete="username" name="username" value={invitation.email} readOnly />
        {!setsPassword && (
          <TextInput label="Your name" autoComplete="name" key={form.key('name')} {...form.getInputProps('name')} />
        )}
        {choosesPassword ? (
          <>
            <PasswordField
              label={setsPassword ? 'New password' : 'Password'}
              description={
                setsPassword
                  ? 'At least 12 characters.'
                  : 'At least 12 characters. If you can sign in here already, your present password.'
              }
              autoComplete="new-password"
              key={form.key('password')}
              {...form.getInputProps('password')}
            />
            <Button type="submit" loading={accept.isPending}>
              {setsPassword ? 'Set password and sign in' : 'Accept and sign in'}
            </Button>
          </>
        ) : (
          <OrganisationButton type="submit" loading={accept.isPending}>
            Accept and sign in with {organisation}
          </OrganisationButton>
        )}
        {organisation !== undefined && !setsPassword && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            ta="center"
            onClick={() => setChoosesPassword(!choosesPassword)}
          >
            {choosesPassword ? `Sign in with ${organisation} instead` : 'Choose a password instead'}
          </Anchor>
        )}
      </Stack>
    </form>
  )
}
