import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { CopyButton } from './copy-button.tsx'

interface SecretOnceProps {
  /** What it is, such as `API key`. */
  label: string
  secret: string
  /** Hides it for good. */
  onDone: () => void
}

/** A secret at the one moment when it can be read. */
export function SecretOnce({ label, secret, onDone }: SecretOnceProps) {
  return (
    <Alert icon={<IconKey />} title={`Copy your ${label} now`} role="status">
      <Stack gap="sm">
        <Text size="sm">You will not see it again. Keep it where your application keeps its secrets.</Text>
        <TextInput
          label={label}
          value={secret}
          readOnly
          onFocus={(event) => event.currentTarget.select()}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        />
        <Group gap="sm">
          <CopyButton text={secret} label={`Copy ${label}`} />
          <Button size="xs" variant="subtle" onClick={onDone}>
            I have stored it
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
