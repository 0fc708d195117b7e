import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { SignedOutLayout } from '../../layout/signed-out-layout.tsx'
import { useSignInOptions } from '../../session/sign-in.ts'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { Form } from '../../ui/form.tsx'
import { TextLink } from '../../ui/button.tsx'

export function ForgotPasswordPage() {
  const { resetsByEmail, isPending, error, refetch } = useSignInOptions()
  const [sentTo, setSentTo] = useState<string>()
  return (
    <SignedOutLayout title={t`Forgot your password?`}>
      <Stack>
        {isPending && <LoadingSkeleton lines={2} />}
        {error !== null && <ErrorAlert error={error} onRetry={refetch} />}
        {!isPending && error === null && !resetsByEmail && <AskOperator />}
        {resetsByEmail && sentTo === undefined && <RequestForm onSent={setSentTo} />}
        {sentTo !== undefined && <Sent to={sentTo} />}
        <TextLink to="/sign-in" size="sm" ta="center">{t`Back to sign-in`}</TextLink>
      </Stack>
    </SignedOutLayout>
  )
}

function AskOperator() {
  return (
    <Text size="sm">
      <Trans>
        This server sends no email. Ask the people who run it for a link that sets a new password. They create it with{' '}
        <code>waybill owner reset-password</code>.
      </Trans>
    </Text>
  )
}

function Sent({ to }: { to: string }) {
  return (
    <Text size="sm" role="status">
      <Trans>
        If {to} belongs to a user with a password, an email with a link is on its way. The link works once and expires
        after one hour. If nothing arrives, look in the spam folder, or ask an owner of your account which address was
        invited.
      </Trans>
    </Text>
  )
}

function RequestForm({ onSent }: { onSent: (email: string) => void }) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '' },
    validate: { email: (email) => (email.trim() === '' ? t`Enter your email address.` : null) },
  })
  const request = useFormChange(form, {
    change: (email: string) => api.password.requestReset.mutate({ email }),
    invalidates: [],
    onDone: (_output, email) => onSent(email),
  })
  const submit = form.onSubmit(({ email }) => request.submit(email.trim()))
  return (
    <Form onSubmit={submit}>
      <Text size="sm">{t`We will send a link that sets a new password.`}</Text>
      {request.problem !== undefined && <ErrorAlert title={t`No email sent`} error={request.problem} />}
      <TextInput label={t`Email address`} type="email" autoComplete="username" {...form.getInputProps('email')} />
      <Button type="submit" loading={request.isPending}>{t`Send link`}</Button>
    </Form>
  )
}
