import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Anchor, Box, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconDownload, IconKey } from '@tabler/icons-react'
import { QRCodeSVG } from 'qrcode.react'
import { type ReactNode, useState } from 'react'
import { useFormChange } from '../../api/use-change.ts'
import { sessionKey, useUser } from '../../session/session.ts'
import { startAuthenticatorSetup, type NewAuthenticator, verifyCode } from '../../session/two-factor.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { checkCode, CodeField, PasswordField, readCode, takeFocus } from '../../ui/fields.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Form } from '../../ui/form.tsx'

type Step =
  | { name: 'confirm' }
  | { name: 'connect'; authenticator: NewAuthenticator }
  | { name: 'keep'; backupCodes: string[] }

/** Three steps: password, app, backup codes. The app is active once its first code has been verified. */
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
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '' },
    validate: { currentPassword: (password) => (password === '' ? t`Enter your password.` : null) },
  })
  const start = useFormChange(form, {
    change: startAuthenticatorSetup,
    invalidates: [],
    onDone: onConfirmed,
  })
  const submit = form.onSubmit(({ currentPassword }) => start.submit(currentPassword))
  return (
    <Form onSubmit={submit} maw={400}>
      <Title order={3}>{t`1. Confirm your password`}</Title>
      {start.problem !== undefined && <ErrorAlert title={t`Setup not started`} error={start.problem} />}
      <PasswordField
        label={t`Your password`}
        autoComplete="current-password"
        ref={takeFocus}
        {...form.getInputProps('currentPassword')}
      />
      <Group gap="sm">
        <Button type="submit" loading={start.isPending}>{t`Continue`}</Button>
        <Button variant="default" onClick={onCancel}>{t`Cancel`}</Button>
      </Group>
    </Form>
  )
}

interface ConnectStepProps {
  /** The URI that apps read: `otpauth://totp/…?secret=…`. */
  uri: string
  onConnected: () => void
  onCancel: () => void
}

function ConnectStep({ uri, onConnected, onCancel }: ConnectStepProps) {
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  return (
    <Stack>
      <StepTitle>{t`2. Connect the app`}</StepTitle>
      <Text size="sm" maw={680}>
        <Trans>
          In your authenticator app, such as Google Authenticator, Microsoft Authenticator or 1Password, add an account
          and scan this QR code.
        </Trans>
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
    <Box bdrs="md" bd="1px solid var(--waybill-line)" lh={0} style={{ overflow: 'hidden' }}>
      <QRCodeSVG
        value={uri}
        size={232}
        level="L"
        marginSize={4}
        bgColor="#ffffff"
        fgColor="#000000"
        title={t`QR code for your authenticator app`}
      />
    </Box>
  )
}

function Secret({ secret, uri }: { secret: string; uri: string }) {
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm" fw={600} id="authenticator-secret">{t`Or enter this key`}</Text>
      <Text size="sm" ff="monospace" aria-labelledby="authenticator-secret" role="group">
        {secret.match(/.{1,4}/g)?.join(' ')}
      </Text>
      <Group gap="sm">
        <CopyButton text={secret} label={t`Copy key`} />
        <Anchor href={uri} size="sm" hiddenFrom="sm">{t`Open in an app on this phone`}</Anchor>
      </Group>
    </Stack>
  )
}

/** Verifies the first code, which activates the app. */
function ConfirmCodeForm({ onConfirmed, onCancel }: { onConfirmed: () => void; onCancel: () => void }) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: checkCode },
  })
  const confirm = useFormChange(form, {
    change: verifyCode,
    invalidates: [sessionKey],
    onDone: onConfirmed,
  })
  const submit = form.onSubmit(({ code }) => confirm.submit(readCode(code)))
  return (
    <Form onSubmit={submit} failure={t`Authenticator app not turned on`} problem={confirm.problem}>
      <CodeField
        label={t`Code from the app`}
        description={t`Six digits that change every 30 seconds.`}
        {...form.getInputProps('code')}
      />
      <Group gap="sm">
        <Button type="submit" loading={confirm.isPending}>{t`Turn on`}</Button>
        <Button variant="default" onClick={onCancel}>{t`Cancel`}</Button>
      </Group>
    </Form>
  )
}

/** Shows the ten backup codes, once. */
function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const { email } = useUser()
  const save = () =>
    saveFile(
      'waybill-backup-codes.txt',
      [
        t`Waybill backup codes for ${email}\nEach code works once, in place of a code from the authenticator app.\n\n`,
        `${codes.join('\n')}\n`,
      ],
      'text/plain',
    )
  return (
    <Stack maw={560}>
      <StepTitle>{t`3. Save your backup codes`}</StepTitle>
      <Text size="sm">
        <Trans>
          Your authenticator app is on. If you lose your phone, enter one of these codes after your password. Each code
          works once.
        </Trans>
      </Text>
      <Alert icon={<IconKey />} title={t`These codes are shown only once`}>
        <Stack gap="md">
          <Text size="sm">
            <Trans>Store them where you can reach them without your phone, such as in a password manager.</Trans>
          </Text>
          <SimpleGrid
            component="ul"
            cols={2}
            spacing="xs"
            verticalSpacing={4}
            m={0}
            p={0}
            aria-label={t`Backup codes`}
            style={{ listStyle: 'none' }}
          >
            {codes.map((code) => (
              <Text key={code} component="li" ff="monospace" size="sm">
                {code}
              </Text>
            ))}
          </SimpleGrid>
          <Group gap="sm">
            <CopyButton text={codes.join('\n')} label={t`Copy codes`} />
            <Button variant="default" size="xs" icon={IconDownload} onClick={save}>{t`Download as text file`}</Button>
          </Group>
        </Stack>
      </Alert>
      <Group>
        <Button onClick={onDone}>{t`I have saved them`}</Button>
      </Group>
    </Stack>
  )
}

/** Takes the focus when its step starts, because the button that had it no longer exists. */
function StepTitle({ children }: { children: ReactNode }) {
  return (
    <Title order={3} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
      {children}
    </Title>
  )
}
