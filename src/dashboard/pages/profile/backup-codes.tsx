import { Alert, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconDownload, IconKey } from '@tabler/icons-react'
import { useOwner } from '../../session/session.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { StepTitle } from './step-title.tsx'

/** The ten codes at the one moment when they can be read. */
export function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const { email } = useOwner()
  const save = () =>
    saveFile(
      'waybill-backup-codes.txt',
      [
        `Waybill backup codes of ${email}\nEach signs in once, in place of a code of the authenticator app.\n\n`,
        `${codes.join('\n')}\n`,
      ],
      'text/plain',
    )
  return (
    <Stack maw={560}>
      <StepTitle>3. Keep your backup codes</StepTitle>
      <Text size="sm">
        Your authenticator app is on. Should you lose your phone, each of these codes signs you in once, after your
        password.
      </Text>
      <Alert icon={<IconKey />} title="You will not see them again">
        <Stack gap="md">
          <Text size="sm">Keep them where you find them without your phone, such as a password manager.</Text>
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
              Save as a text file
            </Button>
          </Group>
        </Stack>
      </Alert>
      <Group>
        <Button onClick={onDone}>I have stored them</Button>
      </Group>
    </Stack>
  )
}
