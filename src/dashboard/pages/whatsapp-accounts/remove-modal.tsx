import { Stack } from '@mantine/core'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { settings } from '../../api/settings.ts'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { useWhatsAppAccountChange } from './use-whatsapp-account-change.ts'

interface RemoveModalProps {
  account: WhatsAppAccount
  opened: boolean
  onClose: () => void
}

export function RemoveModal({ account, opened, onClose }: RemoveModalProps) {
  const remove = useWhatsAppAccountChange(account.whatsAppAccountId, {
    change: settings.whatsAppAccount.remove.mutate,
    done: 'The WhatsApp account is removed.',
    onDone: onClose,
    // Shown in the dialog.
    onFailure: () => {},
  })
  const close = () => {
    remove.reset()
    onClose()
  }
  return (
    <ConfirmModal
      opened={opened}
      onClose={close}
      title="Remove this WhatsApp account?"
      consequence={
        <Stack gap="sm">
          <span>
            Waybill forgets the access token and the app secret of phone number ID {account.phoneNumberId}, and its
            templates unless another WhatsApp account of yours shares them. Nothing can be sent from it any more. Your
            messages stay listed, and nothing changes at WhatsApp.
          </span>
          {remove.isError && <ErrorAlert title="It was not removed" error={remove.error} />}
        </Stack>
      }
      confirmLabel="Remove"
      pending={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  )
}
