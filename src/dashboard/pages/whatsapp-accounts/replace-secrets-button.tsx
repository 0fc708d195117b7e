import { Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ActivateButton } from './notice.tsx'
import { ReplaceSecretsModal } from './replace-secrets-modal.tsx'
import { useWhatsAppAccounts } from './use-whatsapp-accounts.ts'

interface ReplaceSecretsButtonProps {
  whatsAppAccountId: string
  /** Whether this is the action that the user must take now. */
  isUrgent?: boolean
  /** Whether WhatsApp rejects the account. It can be activated again once the cause is fixed. */
  isRejected?: boolean
  children: ReactNode
}

/** Replaces the token or app secret, and offers to activate an inactive account. */
export function ReplaceSecretsButton({
  whatsAppAccountId,
  isUrgent = true,
  isRejected = false,
  children,
}: ReplaceSecretsButtonProps) {
  const [opened, { open, close }] = useDisclosure()
  const account = useWhatsAppAccounts().data?.find((one) => one.whatsAppAccountId === whatsAppAccountId)
  if (!account) return null
  return (
    <Group gap="xs">
      <ChangeButton size="xs" variant={isUrgent ? 'filled' : 'default'} onClick={open}>
        {children}
      </ChangeButton>
      {isRejected && <ActivateButton account={account} onActivated={() => {}} />}
      <ReplaceSecretsModal account={account} opened={opened} onClose={close} onReplaced={() => {}} />
    </Group>
  )
}

/** Activates an account that a user deactivated. */
export function ActivateAccount({ whatsAppAccountId }: { whatsAppAccountId: string }) {
  const account = useWhatsAppAccounts().data?.find((one) => one.whatsAppAccountId === whatsAppAccountId)
  return account ? <ActivateButton account={account} onActivated={() => {}} /> : null
}
