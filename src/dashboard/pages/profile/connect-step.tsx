import { Anchor, Box, Group, Stack, Text } from '@mantine/core'
import { QRCodeSVG } from 'qrcode.react'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ConfirmCodeForm } from './confirm-code-form.tsx'
import { StepTitle } from './step-title.tsx'

interface ConnectStepProps {
  /** As apps read it: `otpauth://totp/…?secret=…`. */
  uri: string
  onConnected: () => void
  onCancel: () => void
}

export function ConnectStep({ uri, onConnected, onCancel }: ConnectStepProps) {
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  return (
    <Stack>
      <StepTitle>2. Connect the app</StepTitle>
      <Text size="sm" maw={680}>
        Open your authenticator app, such as Google Authenticator, Microsoft Authenticator or 1Password, add an account
        and scan this picture.
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

/** Dark on white in either theme, with the quiet zone that scanners need (ISO/IEC 18004, 9.1). */
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
        Or type this key
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
