import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { useFormChange } from '../../api/use-change.ts'
import { sessionKey, useUser } from '../../session/session.ts'
import { useSignInOptions } from '../../session/sign-in.ts'
import { turnOffAuthenticator } from '../../session/two-factor.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { PasswordField, takeFocus } from '../../ui/fields.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { SetUpAuthenticator } from './set-up-authenticator.tsx'

export function AuthenticatorSection() {
  const { twoFactor, hasPassword } = useUser()
  const [setUp, setSetUp] = useState<'not asked' | 'under way' | 'over'>('not asked')
  const [turningOff, { open: ask, close }] = useDisclosure()
  return (
    <>
      <Section
        title={t`Authenticator app`}
        description={t`Requires a code from an app on your phone in addition to your password.`}
        actions={
          setUp !== 'under way' &&
          hasPassword && (
            <Button
              variant="default"
              // After the last step, the button that had the focus no longer exists.
              ref={setUp === 'over' ? takeFocus : undefined}
              onClick={twoFactor ? ask : () => setSetUp('under way')}
            >
              {twoFactor ? t`Turn off` : t`Set up`}
            </Button>
          )
        }
      >
        {setUp === 'under way' ? (
          <SetUpAuthenticator onEnd={() => setSetUp('over')} />
        ) : hasPassword ? (
          <Present isOn={twoFactor} />
        ) : (
          <Text size="sm">{t`To set one up, choose a password first.`}</Text>
        )}
      </Section>
      <Modal opened={turningOff} onClose={close} title={t`Turn off your authenticator app?`} centered>
        <TurnOffForm onClose={close} />
      </Modal>
    </>
  )
}

function Present({ isOn }: { isOn: boolean }) {
  const { organisation } = useSignInOptions()
  return (
    <Stack gap="sm">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Box flex="none">
          <StatusBadge tone={isOn ? 'good' : 'neutral'}>{isOn ? t`On` : t`Off`}</StatusBadge>
        </Box>
        <Text size="sm">
          {isOn ? t`Sign-in requires your password and a code.` : t`Sign-in requires only your password.`}
        </Text>
      </Group>
      {organisation !== undefined && (
        <Text size="sm" c="dimmed" maw={680}>
          <Trans>
            This applies to password sign-in only. Sign-in with {organisation} does not ask for this code. You need a
            password here to set it up.
          </Trans>
        </Text>
      )}
    </Stack>
  )
}

function TurnOffForm({ onClose }: { onClose: () => void }) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '' },
    validate: { currentPassword: (password) => (password === '' ? t`Enter your password.` : null) },
  })
  const turnOff = useFormChange(form, {
    change: turnOffAuthenticator,
    invalidates: [sessionKey],
    done: t`Authenticator app turned off.`,
    onDone: onClose,
  })
  const submit = form.onSubmit(({ currentPassword }) => turnOff.submit(currentPassword))
  return (
    <Form onSubmit={submit}>
      <Text size="sm">
        <Trans>
          Sign-in will require only your password, and your backup codes will stop working. You can then remove Waybill
          from the app.
        </Trans>
      </Text>
      {turnOff.problem !== undefined && (
        <ErrorAlert title={t`Authenticator app not turned off`} error={turnOff.problem} />
      )}
      <PasswordField
        label={t`Your password`}
        autoComplete="current-password"
        data-autofocus
        {...form.getInputProps('currentPassword')}
      />
      <FormActions color="red.9" loading={turnOff.isPending} onCancel={onClose}>{t`Turn off`}</FormActions>
    </Form>
  )
}
