import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { showInForm } from '../../api/form-failure.ts'
import { turnOffAuthenticator } from '../../api/sign-in-two-factor.ts'
import { useChange } from '../../api/use-change.ts'
import { sessionKey } from '../../session/session.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { PasswordField } from '../../ui/password-field.tsx'

export function TurnOffModal({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Turn off your authenticator app?" centered>
      <TurnOffForm onClose={onClose} />
    </Modal>
  )
}

function TurnOffForm({ onClose }: { onClose: () => void }) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '' },
    validate: { currentPassword: (password) => (password === '' ? 'Type your password.' : null) },
  })
  const turnOff = useChange({
    change: turnOffAuthenticator,
    invalidates: [sessionKey],
    done: 'Your authenticator app is off.',
    onDone: onClose,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ currentPassword }) => {
    setProblem(undefined)
    turnOff.mutate(currentPassword)
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">
          Your password alone will sign you in. Your backup codes stop working, and you can remove Waybill from the app.
        </Text>
        {problem !== undefined && <ErrorAlert title="It is still on" error={problem} />}
        <PasswordField
          label="Your password"
          autoComplete="current-password"
          data-autofocus
          key={form.key('currentPassword')}
          {...form.getInputProps('currentPassword')}
        />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red.9" loading={turnOff.isPending}>
            Turn off
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
