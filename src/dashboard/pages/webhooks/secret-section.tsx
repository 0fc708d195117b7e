import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Anchor, Group, Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconEye, IconEyeOff, IconRotate } from '@tabler/icons-react'
import { useState } from 'react'
import { translate } from '../../language/i18n.ts'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Button, ChangeButton } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { describeExactly } from '../../ui/time.ts'
import { webhooksKey } from './use-endpoints.ts'

export function SecretSection({ endpoint: { endpointId, previousSecretUntil } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [secret, setSecret] = useState<string>()
  const [rotating, { open, close }] = useDisclosure()
  const reveal = useChange({
    change: () => api.webhook.revealSecret.mutate({ accountId, endpointId }),
    invalidates: [],
    onDone: ({ secret }) => setSecret(secret),
  })
  return (
    <>
      <Section
        title={t`Signing secret`}
        description={t`Signs every event so that your application can verify its origin. Revealing the secret is recorded in the audit log.`}
        actions={
          <>
            {secret === undefined ? (
              <ChangeButton variant="default" icon={IconEye} change={reveal}>{t`Reveal`}</ChangeButton>
            ) : (
              <Button variant="default" icon={IconEyeOff} onClick={() => setSecret(undefined)}>{t`Hide`}</Button>
            )}
            <ChangeButton variant="default" icon={IconRotate} onClick={open}>{t`Rotate`}</ChangeButton>
          </>
        }
      >
        <Stack gap="sm">
          {previousSecretUntil !== undefined && <OverlapNotice until={previousSecretUntil} />}
          {secret === undefined ? <VerificationLink /> : <SigningSecret secret={secret} />}
        </Stack>
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
    label: msg`Revoke it immediately`,
    description: msg`The old secret stops working immediately. Choose this if it has leaked.`,
  },
  { seconds: 3600, label: msg`1 hour` },
  { seconds: 86_400, label: msg`24 hours` },
  { seconds: 7 * 86_400, label: msg`7 days` },
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
    invalidates: [webhooksKey(accountId)],
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
      title={rotated ? t`New signing secret` : t`Rotate signing secret`}
      size="lg"
      closeOnClickOutside={false}
    >
      {rotated ? (
        <Stack>
          {rotated.previousSecretUntil === undefined ? (
            <Text size="sm">{t`The old secret is no longer used. Update your application now.`}</Text>
          ) : (
            <OverlapNotice until={rotated.previousSecretUntil} />
          )}
          <SigningSecret secret={rotated.secret} />
          <Group justify="flex-end">
            <Button onClick={onClose}>{t`Done`}</Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          <Text size="sm">
            <Trans>
              Creates a new secret. Events are signed with both secrets for the time you choose, so that your
              application keeps accepting them until you update it.
            </Trans>
          </Text>
          <Radio.Group
            label={t`Keep signing with the old secret`}
            value={String(seconds)}
            onChange={(value) => setSeconds(Number(value))}
          >
            <Stack gap="xs" mt="xs">
              {overlaps.map(({ seconds, label, description }) => (
                <Radio
                  key={seconds}
                  value={String(seconds)}
                  label={translate(label)}
                  description={description && translate(description)}
                />
              ))}
            </Stack>
          </Radio.Group>
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>{t`Cancel`}</Button>
            <Button change={rotate}>{t`Rotate secret`}</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

/** The signing secret with a link to the documentation. */
export function SigningSecret({ secret }: { secret: string }) {
  return (
    <>
      <CopyField
        label={t`Signing secret`}
        value={secret}
        description={t`Your application uses it to verify events. Treat it like a password.`}
      />
      <VerificationLink />
    </>
  )
}

function VerificationLink() {
  return (
    <Anchor
      href="/docs/webhooks#verify-in-other-languages"
      target="_blank"
      size="sm"
      style={{ alignSelf: 'flex-start' }}
    >
      <Trans>How to verify events, in several languages</Trans>
    </Anchor>
  )
}

/** Shown during a rotation. */
function OverlapNotice({ until }: { until: string }) {
  return (
    <Alert color="gray" p="sm">
      <Text size="sm">
        <Trans>
          Until <time dateTime={until}>{describeExactly(until)}</time>, events are also signed with the previous secret.
        </Trans>
      </Text>
    </Alert>
  )
}
