import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { useSignInOptions } from '../../api/sign-in-options.ts'
import { useOwner } from '../../session/session.ts'
import { Section } from '../../ui/section.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { takeFocus } from '../../ui/take-focus.ts'
import { SetUpAuthenticator } from './set-up-authenticator.tsx'
import { TurnOffModal } from './turn-off-modal.tsx'

export function AuthenticatorSection() {
  const { twoFactor } = useOwner()
  const [setUp, setSetUp] = useState<'not asked' | 'under way' | 'over'>('not asked')
  const [turningOff, { open: ask, close }] = useDisclosure()
  return (
    <>
      <Section
        title="Authenticator app"
        description="A code from an app on your phone, asked for after your password: whoever learns your password still does not get in."
        actions={
          setUp !== 'under way' && (
            <Button
              variant="default"
              // After the last step, whose button is gone.
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
          {isOn ? 'You sign in with your password and a code.' : 'Your password alone signs you in.'}
        </Text>
      </Group>
      {organisation !== undefined && (
        <Text size="sm" c="dimmed" maw={680}>
          It is for signing in with a password. Sign-in with {organisation} does not ask for this code, and without a
          password here it cannot be set up.
        </Text>
      )}
    </Stack>
  )
}
