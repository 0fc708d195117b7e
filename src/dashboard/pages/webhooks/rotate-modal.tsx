import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { SigningSecret } from './signing-secret.tsx'
import { TwoSecrets } from './two-secrets.tsx'
import { webhooksKey } from './use-endpoints.ts'

const overlaps = [
  { seconds: 0, label: 'Not at all', description: 'The old secret stops now. Choose this when it has leaked.' },
  { seconds: 3600, label: '1 hour' },
  { seconds: 86_400, label: '24 hours' },
  { seconds: 7 * 86_400, label: '7 days' },
]
const usualSeconds = 86_400

interface RotateModalProps {
  endpointId: string
  opened: boolean
  onClose: () => void
  onRotated: () => void
}

/** How long both sign; then the new one. */
export function RotateModal({ endpointId, opened, onClose, onRotated }: RotateModalProps) {
  const { accountId } = useAccount()
  const [seconds, setSeconds] = useState(usualSeconds)
  const rotate = useChange({
    change: () => settings.webhook.rotateSecret.mutate({ accountId, endpointId, overlapSeconds: seconds }),
    invalidates: [webhooksKey(accountId), ['audit', accountId]],
    onDone: onRotated,
  })
  const rotated = rotate.data
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => {
        rotate.reset()
        setSeconds(usualSeconds)
      }}
      title={rotated ? 'The new signing secret' : 'Rotate the signing secret'}
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {rotated ? (
        <Stack>
          {rotated.previousSecretUntil === undefined ? (
            <Text size="sm">The old secret no longer signs. Give this one to your application now.</Text>
          ) : (
            <TwoSecrets until={rotated.previousSecretUntil} />
          )}
          <SigningSecret secret={rotated.secret} />
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          <Text size="sm">
            You get a new secret. For a while each event is signed with both, so that nothing is refused while your
            application changes over.
          </Text>
          <Radio.Group
            label="How long the old secret signs too"
            value={String(seconds)}
            onChange={(value) => setSeconds(Number(value))}
          >
            <Stack gap="xs" mt="xs">
              {overlaps.map(({ seconds, ...overlap }) => (
                <Radio key={seconds} value={String(seconds)} {...overlap} />
              ))}
            </Stack>
          </Radio.Group>
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Rotate secret
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
