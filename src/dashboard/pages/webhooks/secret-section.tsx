import { Alert, Anchor, Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconEye, IconEyeOff, IconRotate } from '@tabler/icons-react'
import { useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { CopyField } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'
import { describeExactly } from '../../ui/time.ts'
import { webhooksKey } from './use-endpoints.ts'

export function SecretSection({ endpoint: { endpointId, previousSecretUntil } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [secret, setSecret] = useState<string>()
  const [rotating, { open, close }] = useDisclosure()
  const reveal = useChange({
    change: () => api.webhook.revealSecret.mutate({ accountId, endpointId }),
    invalidates: [['audit', accountId]],
    onDone: ({ secret }) => setSecret(secret),
  })
  const isEmpty = secret === undefined && previousSecretUntil === undefined
  return (
    <>
      <Section
        title="Signing secret"
        description="Signs every event so that your application can verify its origin. Revealing the secret is recorded in the audit log."
        actions={
          <>
            {secret === undefined ? (
              <ChangeButton
                variant="default"
                leftSection={<IconEye size={16} />}
                loading={reveal.isPending}
                onClick={() => reveal.mutate()}
              >
                Reveal
              </ChangeButton>
            ) : (
              <Button variant="default" leftSection={<IconEyeOff size={16} />} onClick={() => setSecret(undefined)}>
                Hide
              </Button>
            )}
            <ChangeButton variant="default" leftSection={<IconRotate size={16} />} onClick={open}>
              Rotate
            </ChangeButton>
          </>
        }
      >
        {isEmpty ? undefined : (
          <Stack gap="sm">
            {previousSecretUntil !== undefined && <OverlapNotice until={previousSecretUntil} />}
            {secret !== undefined && <SigningSecret secret={secret} />}
          </Stack>
        )}
      </Section>
      <RotateModal
        endpointId={endpointId}
        opened={rotating}
        onClose={close}
        // The revealed secret is no longer current.
        onRotated={() => setSecret(undefined)}
      />
    </>
  )
}

const overlaps = [
  {
    seconds: 0,
    label: 'Revoke it immediately',
    description: 'The old secret stops working immediately. Choose this if it has leaked.',
  },
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

/** Asks for the overlap, then shows the new secret. */
function RotateModal({ endpointId, opened, onClose, onRotated }: RotateModalProps) {
  const { accountId } = useAccount()
  const [seconds, setSeconds] = useState(usualSeconds)
  const rotate = useChange({
    change: () => api.webhook.rotateSecret.mutate({ accountId, endpointId, overlapSeconds: seconds }),
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
      title={rotated ? 'New signing secret' : 'Rotate signing secret'}
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {rotated ? (
        <Stack>
          {rotated.previousSecretUntil === undefined ? (
            <Text size="sm">The old secret is no longer used. Update your application now.</Text>
          ) : (
            <OverlapNotice until={rotated.previousSecretUntil} />
          )}
          <SigningSecret secret={rotated.secret} />
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          <Text size="sm">
            Creates a new secret. Events are signed with both secrets for the time you choose, so that your application
            keeps accepting them until you update it.
          </Text>
          <Radio.Group
            label="Keep signing with the old secret"
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

/** The secret with a link to the documentation. */
export function SigningSecret({ secret }: { secret: string }) {
  return (
    <>
      <CopyField
        label="Signing secret"
        value={secret}
        description="Your application uses it to verify events. Treat it like a password."
      />
      <Anchor href="/docs#description/webhooks" target="_blank" size="sm" style={{ alignSelf: 'flex-start' }}>
        How events are signed
      </Anchor>
    </>
  )
}

/** Shown during a rotation. */
function OverlapNotice({ until }: { until: string }) {
  return (
    <Alert color="gray" p="sm">
      <Text size="sm">
        Until <time dateTime={until}>{describeExactly(until)}</time>, events are also signed with the previous secret.
      </Text>
    </Alert>
  )
}
