import { Button, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconEye, IconEyeOff, IconRotate } from '@tabler/icons-react'
import { useState } from 'react'
import type { Endpoint } from '../../../../contracts/dashboard/webhook.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section } from '../../ui/section.tsx'
import { RotateModal } from './rotate-modal.tsx'
import { SigningSecret } from './signing-secret.tsx'
import { TwoSecrets } from './two-secrets.tsx'

export function SecretSection({ endpoint: { endpointId, previousSecretUntil } }: { endpoint: Endpoint }) {
  const { accountId } = useAccount()
  const [secret, setSecret] = useState<string>()
  const [rotating, { open, close }] = useDisclosure()
  const reveal = useChange({
    change: () => settings.webhook.revealSecret.mutate({ accountId, endpointId }),
    invalidates: [['audit', accountId]],
    onDone: ({ secret }) => setSecret(secret),
  })
  const isEmpty = secret === undefined && previousSecretUntil === undefined
  return (
    <>
      <Section
        title="Signing secret"
        description="Every event is signed with it, so that your application can tell that it comes from here. Revealing it is written to the audit log."
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
            {previousSecretUntil !== undefined && <TwoSecrets until={previousSecretUntil} />}
            {secret !== undefined && <SigningSecret secret={secret} />}
          </Stack>
        )}
      </Section>
      <RotateModal
        endpointId={endpointId}
        opened={rotating}
        onClose={close}
        // The one that was revealed is not the one that signs any more.
        onRotated={() => setSecret(undefined)}
      />
    </>
  )
}
