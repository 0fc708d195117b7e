import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { settings } from '../../api/settings.ts'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { useWhatsAppAccountChange } from './use-whatsapp-account-change.ts'

interface DeactivateModalProps {
  account: WhatsAppAccount
  opened: boolean
  onClose: () => void
  onDeactivated: () => void
}

export function DeactivateModal({ account, opened, onClose, onDeactivated }: DeactivateModalProps) {
  const deactivate = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: settings.whatsAppAccount.deactivate.mutate,
    done: 'The WhatsApp account is inactive. Nothing is sent from it.',
    onDone: () => {
      onDeactivated()
      onClose()
    },
  })
  return (
    <ConfirmModal
      opened={opened}
      onClose={onClose}
      title="Deactivate this WhatsApp account?"
      consequence={
        <>
          Nothing is sent from phone number ID {account.phoneNumberId} until you activate it again: requests that name
          it are refused.
          {account.isDefault && ' So are requests that name no account, since it is the default.'} Its templates and
          messages stay.
        </>
      }
      confirmLabel="Deactivate"
      pending={deactivate.isPending}
      onConfirm={() => deactivate.mutate()}
    />
  )
}
