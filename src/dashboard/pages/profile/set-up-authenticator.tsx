import { Alert, Anchor, Box, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconDownload, IconKey } from '@tabler/icons-react'
import { QRCodeSVG } from 'qrcode.react'
import { useState } from 'react'
import { showInForm } from '../../api/failure.ts'
import { useChange } from '../../api/use-change.ts'
import { sessionKey, useUser } from '../../session/session.ts'
import { startAuthenticatorSetup, type NewAuthenticator, verifyCode } from '../../session/two-factor.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { checkCode, CodeField, PasswordField, readCode, takeFocus } from '../../ui/fields.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { saveFile } from '../../ui/save-file.ts'

type Step =
  | { name: 'confirm' }
  | { name: 'connect'; authenticator: NewAuthenticator }
  | { name: 'keep'; backupCodes: string[] }

/** Three steps: password, app, backup codes. The app is on once its first code has been verified. */
export function SetUpAuthenticator({ onEnd }: { onEnd: () => void }) {
  const [step, setStep] = useState<Step>({ name: 'confirm' })
  switch (step.name) {
    case 'confirm':
      return (
        <ConfirmPasswordForm
          onConfirmed={(authenticator) => setStep({ name: 'connect', authenticator })}
          onCancel={onEnd}
        />
      )
    case 'connect': {
      const { totpURI, backupCodes } = step.authenticator
      return <ConnectStep uri={totpURI} onConnected={() => setStep({ name: 'keep', backupCodes })} onCancel={onEnd} />
    }
    case 'keep':
      return <BackupCodes codes={step.backupCodes} onDone={onEnd} />
  }
}

interface ConfirmPasswordFormProps {
  onConfirmed: (authenticator: NewAuthenticator) => void
  onCancel: () => void
}

function ConfirmPasswordForm({ onConfirmed, onCancel }: ConfirmPasswordFormProps) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '' },
    validate: { currentPassword: (password) => (password === '' ? 'Enter your password.' : null) },
  })
  const start = useChange({
    change: startAuthenticatorSetup,
    invalidates: [],
    onDone: onConfirmed,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ currentPassword }) => {
    setProblem(undefined)
    start.mutate(currentPassword)
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={400}>
        <Title order={3}>1. Confirm your password</Title>
        {problem !== undefined && <ErrorAlert title="Setup not started" error={problem} />}
        <PasswordField
          label="Your password"
          autoComplete="current-password"
          ref={takeFocus}
          key={form.key('currentPassword')}
          {...form.getInputProps('currentPassword')}
        />
        <Group gap="sm">
          <Button type="submit" loading={start.isPending}>
            Continue
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ConnectStepProps {
  /** As apps read it: `otpauth://totp/…?secret=…`. */
  uri: string
  onConnected: () => void
  onCancel: () => void
}

function ConnectStep({ uri, onConnected, onCancel }: ConnectStepProps) {
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  return (
    <Stack>
      <StepTitle>2. Connect the app</StepTitle>
      <Text size="sm" maw={680}>
        In your authenticator app, such as Google Authenticator, Microsoft Authenticator or 1Password, add an account
        and scan this QR code.
      </Text>
      <Group gap="xl" align="flex-start">
        <QrCode uri={uri} />
        <Stack gap="lg" flex={1} miw={240} maw={400}>
          <Secret secret={secret} uri={uri} />
          <ConfirmCodeForm onConfirmed={onConnected} onCancel={onCancel} />
        </Stack>
      </Group>
    </Stack>
  )
}

/** Dark on white in both themes, with the quiet zone that scanners need (ISO/IEC 18004, 9.1). */
function QrCode({ uri }: { uri: string }) {
  return (
    <Box bdrs="md" bd="1px solid var(--mantine-color-default-border)" lh={0} style={{ overflow: 'hidden' }}>
      <QRCodeSVG
        value={uri}
        size={232}
        level="L"
        marginSize={4}
        bgColor="#ffffff"
        fgColor="#000000"
        title="QR code for your authenticator app"
      />
    </Box>
  )
}

function Secret({ secret, uri }: { secret: string; uri: string }) {
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm" fw={600} id="authenticator-secret">
        Or enter this key
      </Text>
      <Text size="sm" ff="monospace" aria-labelledby="authenticator-secret" role="group">
        {secret.match(/.{1,4}/g)?.join(' ')}
      </Text>
      <Group gap="sm">
        <CopyButton text={secret} label="Copy key" />
        <Anchor href={uri} size="sm" hiddenFrom="sm">
          Open in an app on this phone
        </Anchor>
      </Group>
    </Stack>
  )
}

interface ConfirmCodeFormProps {
  onConfirmed: () => void
  onCancel: () => void
}

/** Verifies the first code, which turns the app on. */
function ConfirmCodeForm({ onConfirmed, onCancel }: ConfirmCodeFormProps) {
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: checkCode },
  })
  const confirm = useChange({
    change: verifyCode,
    invalidates: [sessionKey],
    onDone: onConfirmed,
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const submit = form.onSubmit(({ code }) => {
    setProblem(undefined)
    confirm.mutate(readCode(code))
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {problem !== undefined && <ErrorAlert title="Authenticator app not turned on" error={problem} />}
        <CodeField
          label="Code from the app"
          description="Six digits that change every 30 seconds."
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <Group gap="sm">
          <Button type="submit" loading={confirm.isPending}>
            Turn on
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Shows the ten backup codes, once. */
function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const { email } = useUser()
  const save = () =>
    saveFile(
      'waybill-backup-codes.txt',
      [
        `Waybill backup codes for ${email}\nEach code works once, in place of a code from the authenticator app.\n\n`,
        `${codes.join('\n')}\n`,
      ],
      'text/plain',
    )
  return (
    <Stack maw={560}>
      <StepTitle>3. Save your backup codes</StepTitle>
      <Text size="sm">
        Your authenticator app is on. If you lose your phone, enter one of these codes after your password. Each code
        works once.
      </Text>
      <Alert icon={<IconKey />} title="These codes are shown only once">
        <Stack gap="md">
          <Text size="sm">Store them where you can reach them without your phone, such as in a password manager.</Text>
          <SimpleGrid
            component="ul"
            cols={2}
            spacing="xs"
            verticalSpacing={4}
            m={0}
            p={0}
            aria-label="Backup codes"
            style={{ listStyle: 'none' }}
          >
            {codes.map((code) => (
              <Text key={code} component="li" ff="monospace" size="sm">
                {code}
              </Text>
            ))}
          </SimpleGrid>
          <Group gap="sm">
            <CopyButton text={codes.join('\n')} label="Copy codes" />
            <Button variant="default" size="xs" leftSection={<IconDownload size={14} />} onClick={save}>
              Download as text file
            </Button>
          </Group>
        </Stack>
      </Alert>
      <Group>
        <Button onClick={onDone}>I have saved them</Button>
      </Group>
    </Stack>
  )
}

/** Takes the focus when its step starts, because the focused button is gone. */
function StepTitle({ children }: { children: string }) {
  return (
    <Title order={3} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
      {children}
    </Title>
  )
}
