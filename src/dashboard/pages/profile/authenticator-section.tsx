import { Box, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { showInForm } from '../../api/failure.ts'
import { useChange } from '../../api/use-change.ts'
import { sessionKey, useUser } from '../../session/session.ts'
import { useSignInOptions } from '../../session/sign-in.ts'
import { turnOffAuthenticator } from '../../session/two-factor.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { PasswordField, takeFocus } from '../../ui/fields.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { SetUpAuthenticator } from './set-up-authenticator.tsx'

export function AuthenticatorSection() {
  const { twoFactor } = useUser()
  const [setUp, setSetUp] = useState<'not asked' | 'under way' | 'over'>('not asked')
  const [turningOff, { open: ask, close }] = useDisclosure()
  return (
    <>
      <Section
        title="Authenticator app"
        description="Requires a code from an app on your phone in addition to your password."
        actions={
          setUp !== 'under way' && (
            <Button
              variant="default"
              // After the last step, the focused button is gone.
              ref={setUp === 'over' ? takeFocus : undefined}
              onClick={twoFactor ? ask : () => setSetUp('under way')}
            >
              {twoFactor ? 'Turn off' : 'Set up'}
            </Button>
          )
        }
      >
        {setUp === 'under way' ? <SetUpAuthenticator onEnd={() => setSetUp('over')} /> : <Present isOn={twoFactor} />}
      </Section>
      <TurnOffModal opened={turningOff} onClose={close} />
    </>
  )
}

function Present({ isOn }: { isOn: boolean }) {
  const { organisation } = useSignInOptions()
  return (
    <Stack gap="sm">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Box flex="none">
          <StatusBadge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'On' : 'Off'}</StatusBadge>
        </Box>
        <Text size="sm">
          {isOn ? 'Sign-in requires your password and a code.' : 'Sign-in requires only your password.'}
        </Text>
      </Group>
      {organisation !== undefined && (
        <Text size="sm" c="dimmed" maw={680}>
          This applies to password sign-in only. Sign-in with {organisation} does not ask for this code. You need a
          password here to set it up.
        </Text>
      )}
    </Stack>
  )
}

function TurnOffModal({ opened, onClose }: { opened: boolean; onClose: () => void }) {
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
    validate: { currentPassword: (password) => (password === '' ? 'Enter your password.' : null) },
  })
  const turnOff = useChange({
    change: turnOffAuthenticator,
    invalidates: [sessionKey],
    done: 'Authenticator app turned off.',
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
          Sign-in will require only your password, and your backup codes will stop working. You can then remove Waybill
          from the app.
        </Text>
        {problem !== undefined && <ErrorAlert title="Authenticator app not turned off" error={problem} />}
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
