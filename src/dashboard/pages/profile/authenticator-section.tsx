import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSignInOptions } from '../../api/sign-in-options.ts'
import { useOwner } from '../../session/session.ts'
import { Section } from '../../ui/section.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { SetUpAuthenticator } from './set-up-authenticator.tsx'
import { TurnOffModal } from './turn-off-modal.tsx'

export function AuthenticatorSection() {
  const { twoFactor } = useOwner()
  const [settingUp, { open: begin, close: end }] = useDisclosure()
  const [turningOff, { open: ask, close }] = useDisclosure()
  return (
    <>
      <Section
        title="Authenticator app"
        description="A code from an app on your phone, asked for after your password: whoever learns your password still does not get in."
        actions={
          !settingUp && (
            <Button variant="default" onClick={twoFactor ? ask : begin}>
              {twoFactor ? 'Turn off' : 'Set up'}
            </Button>
          )
        }
      >
        {settingUp ? <SetUpAuthenticator onEnd={end} /> : <Present isOn={twoFactor} />}
      </Section>
      <TurnOffModal opened={turningOff} onClose={close} />
    </>
  )
}

function Present({ isOn }: { isOn: boolean }) {
  const { organisation } = useSignInOptions()
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <StatusBadge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'On' : 'Off'}</StatusBadge>
        <Text size="sm">
          {isOn ? 'You sign in with your password and a code.' : 'Your password alone signs you in.'}
        </Text>
      </Group>
      {organisation !== undefined && (
        <Text size="sm" c="dimmed" maw={680}>
          It is for signing in with a password. Who signs in with {organisation} is not asked for this code, and can set
          it up only with a password of their own here.
        </Text>
      )}
    </Stack>
  )
}
